/** `tallyhook chain`: the chain of the journal. `tallyhook verify --chain` verifies it. */
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { readChainHead } from '../../ledger/store/chain.ts';
import { OperatorError } from '../../platform/errors.ts';
import { headJson } from '../../representation/chain.ts';
import { readConfig, withDatabase } from '../context.ts';
import { writeOutput } from '../outputFile.ts';

export function chainCommand(): Command {
  return new Command('chain').addCommand(headCommand());
}

function headCommand(): Command {
  return new Command('head')
    .description('print the chain head: what fixes every transfer up to now')
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', NOTES)
    .action(({ output }: { readonly output?: string }) =>
      withDatabase(readConfig(), async (db) => {
        const head = await readChainHead(db);
        if (!head) {
          throw new OperatorError(
            'The chain has no block yet. The scheduler appends transfers every minute; see npx tallyhook schedule list.',
          );
        }
        const text = Readable.from([`${JSON.stringify(headJson(head), null, 2)}\n`]);
        await writeOutput(text, output);
      }),
    );
}

const NOTES = `
Give the file, or the line NUMBER:DIGEST in it, to somebody who cannot change the database: your accountant,
your auditor, a mailbox. Compare it later with

  tallyhook verify --chain --head FILE

Exit code: 0, 4 while the chain has no block.`;

import { Readable } from 'node:stream';
import { Command, Option } from 'commander';
import { exportJournalAs } from '../../actions/exportJournal.ts';
import {
  exportJournal,
  JOURNAL_FORMATS,
  type JournalFormatName,
} from '../../ledger/read/exportJournal.ts';
import { readConsistently } from '../../ledger/store/readConsistently.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { readConfig, withDatabase } from '../context.ts';
import { momentOption } from '../options.ts';
import { writeOutputFile, writeStandardOutput } from '../outputFile.ts';
import { actorOf, byOption } from '../person.ts';

export function exportCommand(): Command {
  return new Command('export').addCommand(journalCommand());
}

interface ExportOptions {
  readonly format: JournalFormatName;
  readonly from?: number;
  readonly to?: number;
  readonly output?: string;
  readonly by?: string;
}

function journalCommand(): Command {
  return new Command('journal')
    .description('export every transfer, in the order in which it was posted')
    .addOption(
      new Option(
        '--format <format>',
        'csv for spreadsheets, jsonl for scripts, hledger for accounting',
      )
        .choices(JOURNAL_FORMATS)
        .makeOptionMandatory(),
    )
    .addOption(momentOption('--from', 'only transfers recorded at or after this time'))
    .addOption(momentOption('--to', 'only transfers recorded before this time'))
    .option('--output <file>', 'write to this file instead of standard output')
    .addOption(byOption())
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => {
      const { from, to } = options;
      if (from !== undefined && to !== undefined && from >= to) {
        throw new OperatorError(
          '--from must be before --to. The range includes --from and excludes --to.',
        );
      }
      return withDatabase(readConfig(), (db) => {
        const { format, output, by } = options;
        const parts = { db, write: () => writeJournal(db, options) };
        return exportJournalAs(parts, actorOf(by), { format, from, to, output });
      });
    });
}

const NOTES = `
Times are ISO 8601, in UTC unless they name a zone. A date means its midnight. They are compared with
the time of recording. The export is a consistent snapshot, held open until the output is read.

  tallyhook export journal --format hledger --output ledger.journal && hledger -f ledger.journal check`;

/** @returns the number of transfers */
async function writeJournal(
  db: Database,
  { format, from, to, output }: ExportOptions,
): Promise<number> {
  const range = { fromMicros: from, toMicros: to };
  let rows = 0;
  const onProgress = (written: number) => {
    rows = written;
    if (output !== undefined && process.stderr.isTTY) process.stderr.write(`\r${rows} transfers`);
  };
  await readConsistently(db, async (tx) => {
    const text = Readable.from(exportJournal(tx, { format, range, onProgress }));
    await (output === undefined ? writeStandardOutput(text) : writeOutputFile(text, output));
  });
  if (output !== undefined) {
    console.error(`${process.stderr.isTTY ? '\r' : ''}${rows} transfers written to ${output}`);
  }
  return rows;
}

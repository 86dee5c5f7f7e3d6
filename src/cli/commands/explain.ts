import { Command } from 'commander';
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import { explainNamed } from '../../ledger/read/explain.ts';
import { printable } from '../../platform/printable.ts';
import { orderExplanationJson, partExplanationJson } from '../../representation/explanation.ts';
import { orderLines, partLines } from '../../representation/explanationText.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { unknownId } from '../unknownId.ts';

export function explainCommand(): Command {
  return new Command('explain')
    .description('explain the state of an order: which snapshots count, why, and what was posted')
    .argument(
      '<id>',
      'id of the order, or of one of its payments, refunds or disputes; or of a payout',
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 nothing has this id.')
    .action((id: string, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const { orders, resources } = await explainNamed(db, id);
        if (orders.length === 0 && resources.length === 0) {
          throw await unknownId(db, {
            id,
            kinds: ['order', ...RESOURCE_KINDS],
            message: `No order, payment, refund, dispute or payout is known as ${printable(id)}.`,
            next:
              'If it is new, its event may not have arrived yet: `npx tallyhook events list` shows the inbox. ' +
              '`npx tallyhook find` searches ids of every kind.',
          });
        }
        if (json) {
          printJson({
            orders: orders.map(orderExplanationJson),
            resources: resources.map(partExplanationJson),
          });
        } else {
          printBlocks([...orders.map(orderLines), ...resources.map(partLines)]);
        }
      }),
    );
}

function printBlocks(blocks: readonly (readonly string[])[]): void {
  blocks.forEach((lines, place) => {
    if (place > 0) printLine();
    for (const line of lines) printLine(line);
  });
}

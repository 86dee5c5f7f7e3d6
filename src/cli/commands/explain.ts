import { Command } from 'commander';
import { explainNamed } from '../../ledger/read/explain.ts';
import { OperatorError } from '../../platform/errors.ts';
import { orderExplanationJson, partExplanationJson } from '../../representation/explanation.ts';
import { printable, printJson, readConfig, withDatabase } from '../context.ts';
import { orderLines, partLines } from '../explanationText.ts';
import { jsonOption } from '../options.ts';

export function explainCommand(): Command {
  return new Command('explain')
    .description('why an order has its state: which bodies count and why, and what was posted')
    .argument('<id>', "the shop's order id, or the id of a payment, refund, dispute or payout")
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 1 nothing of that id.')
    .action((id: string, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const { orders, resources } = await explainNamed(db, id);
        if (orders.length === 0 && resources.length === 0) {
          throw new OperatorError(
            `No order, payment, refund, dispute or payout is known as ${printable(id)}. ` +
              'If it is new its event may still be on the way; `npx tallyhook events list` shows what came, ' +
              '`npx tallyhook find` looks for ids of every sort.',
          );
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
    if (place > 0) console.log();
    for (const line of lines) console.log(printable(line));
  });
}

import { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { isCapturable, STATUSES } from '../../contract/statuses.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import {
  type ListTotals,
  type ResourceQuery,
  readAllResources,
  readResourceTotals,
} from '../../ledger/read/resourceList.ts';
import type { ListedResource } from '../../ledger/read/store/resourceList.ts';
import type { Database } from '../../platform/db/database.ts';
import { evidenceDueAt } from '../../representation/disputeText.ts';
import { resourceCsv } from '../../representation/listCsv.ts';
import {
  disputeJson,
  listedPaymentJson,
  listTotalsJson,
  payoutJson,
  refundJson,
} from '../../representation/listedResource.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import {
  addListOptions,
  countText,
  filterOf,
  type ListOptions,
  placeOfCursor,
  printCsv,
  printMore,
  ROWS_AT_ONCE,
  take,
} from '../listOptions.ts';
import { printTable } from '../table.ts';
import { disputeActionCommands } from './disputeActions.ts';
import { payoutActionCommands } from './payoutActions.ts';
import { refundPaymentCommand } from './refundPayment.ts';

interface ResourceListOptions extends ListOptions {
  readonly order?: string;
}

/** What a command prints of one kind. */
interface Listed {
  readonly name: string;
  readonly json: (row: ListedResource) => object;
  /** What `--order` selects by. */
  readonly order: string;
}

const LISTED: Readonly<Record<ResourceKind, Listed>> = {
  payment: { name: 'payments', json: listedPaymentJson, order: 'only those of this order' },
  refund: { name: 'refunds', json: refundJson, order: 'only those of this order' },
  dispute: { name: 'disputes', json: disputeJson, order: 'only those of this order' },
  payout: {
    name: 'payouts',
    json: payoutJson,
    order: "only those with this reference of the merchant's",
  },
};

export function paymentsCommand(): Command {
  return resourceCommand('payment').addCommand(refundPaymentCommand());
}

export function refundsCommand(): Command {
  return resourceCommand('refund');
}

export function disputesCommand(): Command {
  const command = resourceCommand('dispute');
  for (const action of disputeActionCommands()) command.addCommand(action);
  return command;
}

export function payoutsCommand(): Command {
  const command = resourceCommand('payout');
  for (const action of payoutActionCommands()) command.addCommand(action);
  return command;
}

function resourceCommand(kind: ResourceKind): Command {
  const { name, order } = LISTED[kind];
  const list = new Command('list')
    .description(`list ${name}, newest first, with the reason of those that failed`)
    .option('--status <status>', `only this status, for example ${STATUSES[kind].join(', ')}`)
    .option('--order <id>', order);
  addListOptions(list)
    .addHelpText(
      'after',
      "\nTimes are the service's times of creation, or the times at which Tallyhook first saw a row.\n\nExit code: 0.",
    )
    .action((options: ResourceListOptions) =>
      withDatabase(readConfig(), (db) => printList(db, kind, options)),
    );
  return new Command(name).addCommand(list);
}

async function printList(
  db: Database,
  kind: ResourceKind,
  options: ResourceListOptions,
): Promise<void> {
  const { status, order: orderId, limit } = options;
  const query: ResourceQuery = { ...filterOf(options), kind, status, orderId };
  const from = placeOfCursor(options.cursor);
  if (options.csv) {
    await printCsv(resourceCsv(kind), readAllResources(db, query, { from, limit: ROWS_AT_ONCE }));
    return;
  }
  const { name, json } = LISTED[kind];
  const taken = await take(
    readAllResources(db, query, { from, limit: limit + 1 }),
    limit,
    (row) => row,
  );
  const totals = options.totals ? await readResourceTotals(db, query) : undefined;
  if (options.json) {
    printJson({
      [name]: taken.rows.map(json),
      next_cursor: taken.next,
      totals: totals ? listTotalsJson(totals) : null,
    });
    return;
  }
  if (taken.rows.length === 0) printLine(`No such ${name}.`);
  else printRows(taken.rows);
  printMore(taken);
  if (totals) printTotals(totals);
}

function printRows(rows: readonly ListedResource[]): void {
  printTable(
    ['ID', 'ORDER', 'STATUS', 'AMOUNT', 'CREATED', 'DUE', 'NOTE'],
    rows.map((row) => [
      row.id,
      orderOf(row),
      [row.status ?? 'not seen yet', row.stage].filter(Boolean).join(' at '),
      row.amountMinor === null || row.currency === null
        ? '-'
        : formatMoney(row.amountMinor, row.currency),
      formatTime(row.createdAt),
      formatTime(dueAt(row)),
      noteOf(row),
    ]),
  );
}

/** Until when something can be done; null where nothing is due any more. */
function dueAt(row: ListedResource): Date | null {
  if (row.kind === 'dispute') return evidenceDueAt(row);
  return isCapturable(row.status) ? row.deadlineAt : null;
}

function orderOf({ kind, orderKey, reference }: ListedResource): string {
  if (kind === 'payout') return reference ?? '-';
  return orderKey === null ? '-' : orderIdOf(orderKey);
}

function noteOf(row: ListedResource): string {
  const reason = describeReason(row.kind, row.status, row) ?? [];
  return [reason, ...row.uncertainties, ...row.openFindings].flat().join('; ') || '-';
}

function printTotals(totals: ListTotals): void {
  printLine(`Total: ${countText(totals)}.`);
  for (const { currency, count, amountMinor, capturedMinor } of totals.currencies) {
    if (currency === null) {
      printLine(`  not seen yet: ${count}`);
      continue;
    }
    const captured = capturedMinor > 0 ? `, captured ${formatMoney(capturedMinor, currency)}` : '';
    printLine(`  ${currency}: ${count}, ${formatMoney(amountMinor, currency)}${captured}`);
  }
}

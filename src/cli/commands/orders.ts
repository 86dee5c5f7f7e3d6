import { Command } from 'commander';
import { shellWord } from '../../alerts/domain/shellWord.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import { timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import {
  type OrderListTotals,
  placeOfOrder,
  readAllOrders,
  readOrderListTotals,
} from '../../ledger/read/orderList.ts';
import {
  type ReadOrder,
  type ReadOrderDetail,
  readOrderPartPage,
  readOrdersNamed,
} from '../../ledger/read/orders.ts';
import { findResources } from '../../ledger/read/store/lookup.ts';
import type { PartSummary } from '../../ledger/read/store/parts.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { NotFoundError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { amountsText } from '../../representation/amountsText.ts';
import { orderCsv } from '../../representation/listCsv.ts';
import {
  orderDetailJson,
  orderJson,
  orderListTotalsJson,
  partJson,
} from '../../representation/order.ts';
import { ORDER_STATUSES, REGISTERED } from '../../webhooks/orderStatuses.ts';
import { formatMicros, printJson, printJsonLine, readConfig, withDatabase } from '../context.ts';
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
import { jsonOption } from '../options.ts';
import { printTable } from '../table.ts';
import { unknownId } from '../unknownId.ts';
import { explainCommand } from './explain.ts';

export function ordersCommand(): Command {
  return new Command('orders')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(partsCommand())
    .addCommand(explainCommand());
}

function listCommand(): Command {
  const list = new Command('list')
    .description('list orders, newest first')
    .option('--status <status>', `only orders with this status: ${STATUSES.join(', ')}`);
  return addListOptions(list)
    .addHelpText(
      'after',
      '\nTimes are those at which Tallyhook first saw an order. Amounts are what was captured or is held.\n\nExit code: 0.',
    )
    .action((options: ListOptions) =>
      withDatabase(readConfig(), (db) => printOrderList(db, options)),
    );
}

async function printOrderList(db: Database, options: ListOptions): Promise<void> {
  const { status, limit } = options;
  const query = {
    ...filterOf(options),
    status: status === undefined ? undefined : readStatus(status),
  };
  const from = placeOfCursor(options.cursor);
  if (options.csv) {
    await printCsv(orderCsv(), readAllOrders(db, query, { from, limit: ROWS_AT_ONCE }));
    return;
  }
  const taken = await take(
    readAllOrders(db, query, { from, limit: limit + 1 }),
    limit,
    placeOfOrder,
  );
  const totals = options.totals ? await readOrderListTotals(db, query) : undefined;
  if (options.json) {
    printJson({
      orders: taken.rows.map(orderJson),
      next_cursor: taken.next,
      totals: totals ? orderListTotalsJson(totals) : null,
    });
    return;
  }
  printOrders(taken.rows);
  printMore(taken);
  if (totals) printTotals(totals);
}

function printTotals(totals: OrderListTotals): void {
  printLine(`Total: ${countText(totals)}.`);
  for (const sum of totals.currencies) {
    printLine(`  ${sum.currency}: ${sum.count}, ${amountsText({ ...sum, refundPendingMinor: 0 })}`);
  }
}

const STATUSES = [...ORDER_STATUSES, REGISTERED] as const;

function readStatus(status: string): (typeof STATUSES)[number] {
  const known = STATUSES.find((one) => one === status);
  if (known) return known;
  throw new UsageError(
    `"${printable(status)}" is not an order status. Choose one of ${STATUSES.join(', ')}.`,
  );
}

function printOrders(orders: readonly ReadOrder[]): void {
  if (orders.length === 0) {
    printLine('No such orders. `npx tallyhook send FILE` delivers an event.');
    return;
  }
  printTable(
    ['ORDER', 'STATUS', 'CAPTURED', 'REFUNDED', 'FIRST SEEN'],
    orders.map(({ orderId, status, totals, firstSeenMicros }) => [
      orderId,
      status,
      totals.map((total) => formatMoney(total.capturedMinor, total.currency)).join(', ') || '-',
      totals.map((total) => formatMoney(total.refundedMinor, total.currency)).join(', ') || '-',
      formatMicros(firstSeenMicros),
    ]),
  );
}

/** What names an order. */
const OF_ORDERS = ['order', 'payment', 'refund', 'dispute'] as const;

interface ShowOptions {
  readonly recorded: boolean;
  readonly json: boolean;
}

function showCommand(): Command {
  return new Command('show')
    .description(
      'show one order: its totals, its payments, refunds and disputes, and what people did about it',
    )
    .argument('<id>', 'id of the order, or of one of its payments, refunds or disputes')
    .option(
      '--recorded',
      'order the timeline of --json by recorded time, not by effective time',
      false,
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 there is no such order.')
    .action((id: string, { recorded, json }: ShowOptions) => {
      if (recorded && !json) {
        throw new UsageError(
          '--recorded orders the timeline, which only --json prints. Add --json, or leave out --recorded.',
        );
      }
      return withDatabase(readConfig(), async (db) => {
        const basis = timeBasis({ isRecorded: recorded });
        const orders = await readOrdersNamed(db, id);
        if (orders.length === 0) throw await unknownOrder(db, id);
        if (json) printJson({ orders: orders.map((order) => orderDetailJson(order, basis)) });
        else for (const order of orders) printOrder(order);
      });
    });
}

async function unknownOrder(db: Queryable, id: string): Promise<NotFoundError> {
  const found = await findResources(db, id);
  if (found.some(({ kind }) => kind === 'payout')) {
    return new NotFoundError(
      `${printable(id)} is a payout, which is part of no order. \`npx tallyhook orders explain ${shellWord(id)}\` shows it.`,
    );
  }
  return await unknownId(db, {
    id,
    kinds: OF_ORDERS,
    message: `No order, payment, refund or dispute is known as ${printable(id)}.`,
    next:
      'If it was just created, its event may not have arrived yet: `npx tallyhook events list` shows the inbox. ' +
      '`npx tallyhook find` searches ids of every kind.',
  });
}

function printOrder(order: ReadOrderDetail): void {
  const { orderId, status, movedTo, totals, parts, firstSeenMicros } = order;
  printLine(`Order ${orderId}: ${status}, first seen ${formatMicros(firstSeenMicros)}`);
  if (movedTo.length > 0) printLine(`  Its payments now belong to ${movedTo.join(', ')}.`);
  for (const total of totals)
    printLine(`  ${total.currency}: ${total.status}; ${amountsText(total)}`);
  // An order that moved, or was only registered, has none.
  if (parts.length > 0) printParts(parts);
  if (!order.arePartsComplete)
    printLine(
      `The order has more parts. \`npx tallyhook orders parts ${shellWord(orderId)}\` prints all of them.`,
    );
  printActions(order);
}

function printParts(parts: readonly PartSummary[]): void {
  printTable(
    ['PART', 'ID', 'STATUS', 'AMOUNT', 'CAPTURED', 'NOTE'],
    parts.map((part) => [
      part.kind,
      part.id,
      [part.status ?? 'not seen yet', part.stage].filter(Boolean).join(' at '),
      money(part.amountMinor, part.currency),
      part.kind === 'payment' ? money(part.capturedMinor, part.currency) : '-',
      noteOf(part),
    ]),
  );
}

const PARTS_AT_ONCE = 1_000;

function partsCommand(): Command {
  return new Command('parts')
    .description('print every part of an order, however many: payments, refunds, disputes, by id')
    .argument('<id>', 'id of the order, or of one of its payments, refunds or disputes')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nWith --json each line is one part.\n\nExit code: 0 found, 3 there is no such order.',
    )
    .action((id: string, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const print = json ? printPartLines : printParts;
        for await (const parts of pagesOfParts(db, id)) print(parts);
      }),
    );
}

/** At least one page, unless there is no such order. */
async function* pagesOfParts(
  db: Queryable,
  id: string,
): AsyncGenerator<readonly PartSummary[], void> {
  let after: PartSummary | undefined;
  let isLast = false;
  while (!isLast) {
    const parts = await readOrderPartPage(db, { id }, { after, limit: PARTS_AT_ONCE });
    if (!parts) throw await unknownOrder(db, id);
    yield parts;
    after = parts.at(-1);
    isLast = parts.length < PARTS_AT_ONCE;
  }
}

function printPartLines(parts: readonly PartSummary[]): void {
  for (const part of parts) printJsonLine(partJson(part));
}

/** What people did about the order. */
function printActions({ timeline }: ReadOrderDetail): void {
  const actions = timeline.filter(({ type }) => type === 'action');
  if (actions.length === 0) return;
  printTable(
    ['TIME', 'ACTION'],
    actions.map(({ atMicros, text }) => [formatMicros(atMicros), text]),
  );
}

function money(amountMinor: number | null, currency: string | null): string {
  return amountMinor === null || currency === null ? '-' : formatMoney(amountMinor, currency);
}

function noteOf(part: PartSummary): string {
  const reason = describeReason(part.kind, part.status, part) ?? [];
  return [reason, ...part.uncertainties, ...part.openFindings].flat().join('; ') || '-';
}

import { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import { ORDER_STATUSES, type OrderStatus } from '../../ledger/domain/order.ts';
import { type OrderParts, tellParts } from '../../ledger/read/orders.ts';
import { type ListedOrder, readOrderRows } from '../../ledger/read/store/orders.ts';
import {
  findOrders,
  type OrderSummary,
  type OrderTotalsRow,
  type PartSummary,
  readOrderParts,
  readTotals,
} from '../../ledger/read/store/parts.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import {
  formatTime,
  printable,
  printJson,
  printTable,
  readConfig,
  withDatabase,
} from '../context.ts';
import { jsonOption, limitOption } from '../options.ts';
import { explainCommand } from './explain.ts';

export function ordersCommand(): Command {
  return new Command('orders')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(explainCommand());
}

interface ListOptions {
  readonly status?: string;
  readonly limit: number;
  readonly json: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('the newest orders')
    .option('--status <status>', `only those that are ${ORDER_STATUSES.join(', ')}`)
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(({ status, limit, json }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const statuses = status === undefined ? ORDER_STATUSES : [readStatus(status)];
        const orders = (await readOrderRows(db, { statuses, limit })).map(toSummary);
        const totals = await readTotals(
          db,
          orders.map(({ orderKey }) => orderKey),
        );
        const withTotals = orders.map((order) => ({
          ...order,
          totals: totals.filter(({ orderKey }) => orderKey === order.orderKey),
        }));
        if (json) printJson({ orders: withTotals });
        else printOrders(withTotals);
      }),
    );
}

function readStatus(status: string): OrderStatus {
  const known = ORDER_STATUSES.find((one) => one === status);
  if (known) return known;
  throw new OperatorError(
    `"${status}" is no order status; there are ${ORDER_STATUSES.join(', ')}.`,
  );
}

function toSummary({ firstSeenMicros, updatedMicros, ...order }: ListedOrder): OrderSummary {
  return { ...order, firstSeenAt: toDate(firstSeenMicros), updatedAt: toDate(updatedMicros) };
}

function toDate(instantMicros: number): Date {
  return new Date(Math.floor(instantMicros / 1000));
}

function printOrders(
  orders: readonly (OrderSummary & { readonly totals: readonly OrderTotalsRow[] })[],
): void {
  if (orders.length === 0) {
    console.log('No orders yet. `npx tallyhook send FILE` delivers an event.');
    return;
  }
  printTable(
    ['ORDER', 'STATUS', 'CAPTURED', 'REFUNDED', 'FIRST SEEN'],
    orders.map(({ orderId, status, totals, firstSeenAt }) => [
      orderId,
      status,
      totals.map((total) => formatMoney(total.capturedMinor, total.currency)).join(', ') || '-',
      totals.map((total) => formatMoney(total.refundedMinor, total.currency)).join(', ') || '-',
      formatTime(firstSeenAt),
    ]),
  );
}

function showCommand(): Command {
  return new Command('show')
    .description('one order: its money, and the parts that make it')
    .argument('<id>', "the shop's order id, or a payment id")
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 1 no such order.')
    .action((id: string, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const orders = await Promise.all(
          (await findOrders(db, id)).map((order) => expand(db, order)),
        );
        if (orders.length === 0) {
          throw new OperatorError(
            `No order or payment is known as ${printable(id)}. ` +
              'If it was just paid its event may still be on the way; `npx tallyhook events list` shows what came.',
          );
        }
        if (json) printJson({ orders });
        else for (const order of orders) printOrder(order);
      }),
    );
}

type ExpandedOrder = OrderSummary &
  OrderParts & {
    readonly totals: readonly OrderTotalsRow[];
  };

async function expand(db: Database, order: OrderSummary): Promise<ExpandedOrder> {
  const [totals, parts] = await Promise.all([
    readTotals(db, [order.orderKey]),
    readOrderParts(db, order.orderKey),
  ]);
  return { ...order, totals, ...tellParts(parts) };
}

function printOrder(order: ExpandedOrder): void {
  const { orderId, status, movedTo, totals, parts, firstSeenAt } = order;
  console.log(`Order ${printable(orderId)}: ${status}, first seen ${formatTime(firstSeenAt)}`);
  if (movedTo.length > 0)
    console.log(`  Payments of it were moved to ${movedTo.map(printable).join(', ')}.`);
  for (const total of totals) printTotals(total);
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
  if (!order.arePartsComplete) console.log('There are more parts, which are not shown.');
}

function printTotals(total: OrderTotalsRow): void {
  const amounts = [
    ['authorized', total.authorizedMinor],
    ['captured', total.capturedMinor],
    ['refunded', total.refundedMinor],
    ['refund pending', total.refundPendingMinor],
    ['disputed', total.disputedMinor],
    ['charged back', total.chargedBackMinor],
  ] as const;
  const said = amounts
    .filter(([name, amountMinor]) => amountMinor > 0 || name === 'captured')
    .map(([name, amountMinor]) => `${name} ${formatMoney(amountMinor, total.currency)}`);
  console.log(`  ${total.currency}: ${total.status}; ${said.join(', ')}`);
}

function money(amountMinor: number | null, currency: string | null): string {
  return amountMinor === null || currency === null ? '-' : formatMoney(amountMinor, currency);
}

function noteOf(part: PartSummary): string {
  const reason = describeReason(part.kind, part.status, part) ?? [];
  return [reason, ...part.doubts, ...part.openFindings].flat().join('; ') || '-';
}

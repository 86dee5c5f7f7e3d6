/**
 * Lists as CSV, for spreadsheets: a heading, then one row for each resource, or for each order and
 * currency. Amounts are decimals of their currency, times are UTC.
 */
import type { AuditRow } from '../audit/store/audit.ts';
import { formatAmount } from '../contract/money.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import { csvField } from '../ledger/domain/journalFormats.ts';
import { orderIdOf } from '../ledger/domain/orderKey.ts';
import { reasonDetailOf } from '../ledger/domain/reasonDetail.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { ReadOrder } from '../ledger/read/orders.ts';
import type { OrderTotalsRow } from '../ledger/read/store/parts.ts';
import type { ListedResource } from '../ledger/read/store/resourceList.ts';

type Column<Row> = readonly [name: string, value: (row: Row) => string | null];

export interface Csv<Row> {
  readonly heading: string;
  readonly lines: (rows: readonly Row[]) => string;
}

export function resourceCsv(kind: ResourceKind): Csv<ListedResource> {
  return csv([...IDS[kind], ...STATE, ...AMOUNTS[kind], ...REASON, ...TIMES]);
}

export function orderCsv(): Csv<ReadOrder> {
  const { heading, lines } = csv(ORDER_COLUMNS);
  const entriesOf = (order: ReadOrder): readonly OrderEntry[] =>
    order.totals.length === 0
      ? [{ order, total: undefined }]
      : order.totals.map((total) => ({ order, total }));
  return { heading, lines: (orders) => lines(orders.flatMap(entriesOf)) };
}

export function auditCsv(): Csv<AuditRow> {
  return csv(AUDIT_COLUMNS);
}

function csv<Row>(columns: readonly Column<Row>[]): Csv<Row> {
  const line = (cells: readonly string[]) => `${cells.map(csvField).join(',')}\n`;
  return {
    heading: line(columns.map(([name]) => name)),
    lines: (rows) => rows.map((row) => line(columns.map(([, value]) => value(row) ?? ''))).join(''),
  };
}

const ORDER: readonly Column<ListedResource>[] = [
  ['order_id', ({ orderKey }) => orderKey && orderIdOf(orderKey)],
];
const PAYMENT: Column<ListedResource> = ['payment_id', ({ paymentId }) => paymentId];

const IDS: Readonly<Record<ResourceKind, readonly Column<ListedResource>[]>> = {
  payment: [['payment_id', ({ id }) => id], ...ORDER],
  refund: [['refund_id', ({ id }) => id], PAYMENT, ...ORDER],
  dispute: [['dispute_id', ({ id }) => id], PAYMENT, ...ORDER],
  payout: [
    ['payout_id', ({ id }) => id],
    ['reference', ({ reference }) => reference],
  ],
};

const STATE: readonly Column<ListedResource>[] = [
  ['status', ({ status }) => status],
  ['currency', ({ currency }) => currency],
  ['amount', (row) => decimal(row.amountMinor, row.currency)],
];

const AMOUNTS: Readonly<Record<ResourceKind, readonly Column<ListedResource>[]>> = {
  payment: [
    ['authorized', (row) => decimal(row.authorizedMinor, row.currency)],
    ['captured', (row) => decimal(row.capturedMinor, row.currency)],
    ['capture_before', ({ deadlineAt }) => iso(deadlineAt)],
  ],
  refund: [['requested_for', ({ reason }) => reason]],
  dispute: [
    ['stage', ({ stage }) => stage],
    ['evidence_due_by', ({ deadlineAt }) => iso(deadlineAt)],
  ],
  payout: [],
};

const REASON: readonly Column<ListedResource>[] = [
  ['code', (row) => reasonDetailOf(row)?.code ?? null],
  ['message', (row) => reasonDetailOf(row)?.message ?? null],
  ['error_code', (row) => reasonDetailOf(row)?.errorCode ?? null],
  ['error_message', (row) => reasonDetailOf(row)?.errorMessage ?? null],
];

const TIMES: readonly Column<ListedResource>[] = [
  ['uncertainties', ({ uncertainties }) => uncertainties.join(' ')],
  ['open_findings', ({ openFindings }) => openFindings.join(' ')],
  ['created_at', ({ createdAt }) => iso(createdAt)],
  ['first_seen_at', ({ firstSeenAt }) => iso(firstSeenAt)],
  ['updated_at', ({ updatedAt }) => iso(updatedAt)],
];

const AUDIT_COLUMNS: readonly Column<AuditRow>[] = [
  ['number', ({ id }) => String(id)],
  ['recorded_at', ({ recordedAt }) => iso(recordedAt)],
  ['actor', ({ actorName }) => actorName],
  ['role', ({ actorRole }) => actorRole],
  ['origin', ({ actorOrigin }) => actorOrigin],
  ['action', ({ action }) => action],
  ['subject', ({ subjectKind, subjectId }) => `${subjectKind}:${subjectId}`],
  ['result', ({ result }) => result],
  ['attempt', ({ attempt }) => (attempt === null ? null : String(attempt))],
  ['reason', ({ reason }) => reason],
  ['detail', ({ detail }) => JSON.stringify(detail)],
];

interface OrderEntry {
  readonly order: ReadOrder;
  readonly total: OrderTotalsRow | undefined;
}

const ORDER_COLUMNS: readonly Column<OrderEntry>[] = [
  ['order_id', ({ order }) => order.orderId],
  ['order_key', ({ order }) => order.orderKey],
  ['status', ({ order }) => order.status],
  ['currency', ({ total }) => total?.currency ?? null],
  ['authorized', ({ total }) => of(total, 'authorizedMinor')],
  ['captured', ({ total }) => of(total, 'capturedMinor')],
  ['refunded', ({ total }) => of(total, 'refundedMinor')],
  ['refund_pending', ({ total }) => of(total, 'refundPendingMinor')],
  ['disputed', ({ total }) => of(total, 'disputedMinor')],
  ['charged_back', ({ total }) => of(total, 'chargedBackMinor')],
  ['expected_currency', ({ order }) => order.expected?.currency ?? null],
  [
    'expected',
    ({ order: { expected } }) =>
      expected ? decimal(expected.amountMinor, expected.currency) : null,
  ],
  ['first_seen_at', ({ order }) => formatInstant(order.firstSeenMicros)],
  ['updated_at', ({ order }) => formatInstant(order.updatedMicros)],
];

type Amount = Exclude<keyof OrderTotalsRow, 'orderKey' | 'currency' | 'status'>;

function of(total: OrderTotalsRow | undefined, amount: Amount): string | null {
  return total ? decimal(total[amount], total.currency) : null;
}

function decimal(amountMinor: number | null, currency: string | null): string | null {
  return amountMinor === null || currency === null ? null : formatAmount(amountMinor, currency);
}

function iso(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

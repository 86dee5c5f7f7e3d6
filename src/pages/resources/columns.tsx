/** The columns of lists of resources. */
import { describeReason } from '../../contract/reasons.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import type { ListedResource } from '../../ledger/read/store/resourceList.ts';
import { evidenceDueAt } from '../../representation/disputeText.ts';
import { orderNamedBy } from '../../representation/order.ts';
import type { Column } from '../components/blocks.tsx';
import { Badge, Id, Money, Time, type Tone } from '../components/values.tsx';
import { orderHref, resourceHref } from '../links.ts';

type ResourceColumn = Column<ListedResource>;

export const idColumn: ResourceColumn = {
  title: 'Id',
  cell: ({ kind, id }) => <Id id={id} href={resourceHref(kind, id)} />,
};

export const orderColumn: ResourceColumn = {
  title: 'Order',
  cell: ({ orderKey }) => <OrderLink orderKey={orderKey} />,
};

export const referenceColumn: ResourceColumn = {
  title: 'Reference',
  cell: ({ reference }) => (reference === null ? 'none' : <Id id={reference} />),
};

export const stageColumn: ResourceColumn = { title: 'Stage', cell: ({ stage }) => stage ?? 'none' };

export const statusColumn: ResourceColumn = {
  title: 'Status',
  cell: (row) => <Status row={row} />,
};

export const amountColumn: ResourceColumn = {
  title: 'Amount',
  isNumber: true,
  cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
};

export const capturedColumn: ResourceColumn = {
  title: 'Captured',
  isNumber: true,
  cell: ({ capturedMinor, currency }) => <Money amountMinor={capturedMinor} currency={currency} />,
};

export const createdColumn: ResourceColumn = {
  title: 'Created',
  cell: ({ createdAt, firstSeenAt }) => <Time at={createdAt ?? firstSeenAt} />,
};

export const dueColumn: ResourceColumn = {
  title: 'Evidence due',
  cell: (row) => <Time at={evidenceDueAt(row)} isRelative />,
};

/** Why it failed, and what is open about it. */
export const noteColumn: ResourceColumn = { title: 'Note', cell: noteOf };

export function OrderLink({ orderKey }: { readonly orderKey: string | null }) {
  if (orderKey === null) return <>none</>;
  const orderId = orderIdOf(orderKey);
  return <Id id={orderId} href={orderHref(orderId, orderNamedBy(orderKey))} />;
}

export function Status({ row: { status } }: { readonly row: Pick<ListedResource, 'status'> }) {
  return <Badge tone={TONES.get(status ?? '') ?? 'plain'}>{status ?? 'not seen yet'}</Badge>;
}

const TONES: ReadonlyMap<string, Tone> = new Map<string, Tone>([
  ...['succeeded', 'success', 'won'].map((status) => [status, 'good'] as const),
  ...['failed', 'lost', 'reversed', 'ineligible'].map((status) => [status, 'bad'] as const),
  ...['opened', 'requires_capture', 'expired'].map((status) => [status, 'warn'] as const),
]);

function noteOf(row: ListedResource): string {
  const reason = describeReason(row.kind, row.status, row) ?? [];
  return [reason, ...row.uncertainties, ...row.openFindings].flat().join('; ') || 'none';
}

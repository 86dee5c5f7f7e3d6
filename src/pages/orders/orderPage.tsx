/** One order: its money, its parts and its timeline. */
import { z } from 'zod';
import { id, orderBy } from '../../console/schemas.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import type { TimelineEntry } from '../../ledger/domain/timeline.ts';
import { type ReadOrderDetail, readOrder } from '../../ledger/read/orders.ts';
import type { OrderTotalsRow, PartSummary } from '../../ledger/read/store/parts.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import { ordersHref } from '../links.ts';
import { definePage } from '../page.ts';

export const orderPage = definePage({
  path: '/orders/{order_id}',
  permission: 'read',
  params: z.strictObject({ order_id: id }),
  query: z.strictObject({ by: orderBy }),
  load: async ({ db }, { params, query }) => {
    const order = await readOrder(db, { id: params.order_id, by: query.by });
    if (order) return { outcome: 'ok', data: order };
    const message = `No order, payment, refund or dispute has the id ${JSON.stringify(params.order_id)}. If it was just created, its event may not have arrived yet.`;
    return { outcome: 'not_found', message };
  },
  view: (order) => ({
    title: `Order ${order.orderId}`,
    crumbs: [{ label: 'Orders', href: ordersHref() }],
    body: (
      <>
        <Summary order={order} />
        <Section title="Money">
          <DataTable
            caption="Money by currency"
            columns={MONEY}
            rows={order.totals}
            keyOf={({ currency }) => currency}
            empty="No payment of this order has arrived."
          />
        </Section>
        <Section title="Parts">
          <DataTable
            caption="Payments, refunds and disputes"
            columns={PARTS}
            rows={order.parts}
            keyOf={({ kind, id: partId }) => `${kind}:${partId}`}
            empty="No payment of this order has arrived."
          />
        </Section>
        <Section title="Timeline">
          <Timeline entries={order.timeline} />
        </Section>
      </>
    ),
  }),
});

function Summary({ order }: { readonly order: ReadOrderDetail }) {
  return (
    <KeyValues
      rows={[
        ['Order', <Id key="id" id={order.orderId} />],
        ['Status', <Badge key="status">{order.status}</Badge>],
        ['First seen', <Time key="seen" at={formatInstant(order.firstSeenMicros)} />],
        ['Updated', <Time key="updated" at={formatInstant(order.updatedMicros)} />],
      ]}
    />
  );
}

const amountColumn = (
  title: string,
  amountOf: (totals: OrderTotalsRow) => number,
): Column<OrderTotalsRow> => ({
  title,
  isNumber: true,
  cell: (totals) => <Money amountMinor={amountOf(totals)} currency={totals.currency} />,
});

const MONEY: readonly Column<OrderTotalsRow>[] = [
  { title: 'Currency', cell: ({ currency }) => currency },
  { title: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  amountColumn('Authorized', ({ authorizedMinor }) => authorizedMinor),
  amountColumn('Captured', ({ capturedMinor }) => capturedMinor),
  amountColumn('Refunded', ({ refundedMinor }) => refundedMinor),
  amountColumn('Disputed', ({ disputedMinor }) => disputedMinor),
  amountColumn('Charged back', ({ chargedBackMinor }) => chargedBackMinor),
];

const PARTS: readonly Column<PartSummary>[] = [
  { title: 'Id', cell: ({ id: partId }) => <Id id={partId} /> },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Status', cell: ({ status }) => <Badge>{status ?? 'not seen yet'}</Badge> },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <li key={`${entry.atMicros}:${index}`}>
          <Time at={formatInstant(entry.atMicros)} /> <span>{entry.text}</span>
        </li>
      ))}
    </ol>
  );
}

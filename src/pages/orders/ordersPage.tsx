/** The list of orders, newest first. */
import { z } from 'zod';
import { orderStatus } from '../../console/schemas.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import {
  type OrderListTotals,
  readAllOrders,
  readOrderListTotals,
  readOrderPage,
} from '../../ledger/read/orderList.ts';
import type { ReadOrder } from '../../ledger/read/orders.ts';
import { cursorOf } from '../../representation/cursor.ts';
import { orderCsv } from '../../representation/listCsv.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { ORDER_STATUSES, REGISTERED } from '../../webhooks/orderStatuses.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Select } from '../components/forms.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import { defineDownload } from '../download.ts';
import { csvHref, orderHref, ordersHref } from '../links.ts';
import { ListEnd, ListFilterForm, PAGE_SIZE, type TotalRow, Totals } from '../lists/ListFrame.tsx';
import { filterFields, pageFields, readListQuery } from '../lists/listQuery.ts';
import { definePage } from '../page.ts';

const status = orderStatus.optional();

export const ordersPage = definePage({
  path: '/orders',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ status, ...pageFields }),
  load: async ({ db }, { query }) => {
    const read = readListQuery(query);
    if (read.outcome !== 'ok') return read;
    const filter = { ...read.filter, status: query.status };
    const [{ rows, next }, totals] = await Promise.all([
      readOrderPage(db, filter, { after: read.after, limit: PAGE_SIZE }),
      readOrderListTotals(db, filter),
    ]);
    return { outcome: 'ok', data: { orders: rows, totals, next: cursorOf(next), query } };
  },
  topics: () => ['ledger', 'findings'],
  view: ({ orders, totals, next, query: { cursor: current, ...query } }) => ({
    title: 'Orders',
    body: (
      <>
        <ListFilterForm action={ordersHref()} query={query}>
          <Select
            name="status"
            label="Status"
            value={query.status}
            any="Any"
            options={[...ORDER_STATUSES, REGISTERED]}
          />
        </ListFilterForm>
        <Totals {...totals} rows={totals.currencies.map(totalRow)} csv={csvHref('order', query)} />
        <DataTable
          caption="Orders, newest first"
          columns={COLUMNS}
          rows={orders}
          keyOf={({ orderKey }) => orderKey}
          empty="No order matches. Remove a filter, or wait for the first event of an order."
        />
        <ListEnd
          found={orders.length}
          query={query}
          current={current}
          next={next}
          hrefOf={ordersHref}
        />
      </>
    ),
  }),
});

export const ordersCsv = defineDownload({
  path: '/orders.csv',
  permission: 'read',
  query: z.strictObject({ status, ...filterFields }),
  fileName: 'orders.csv',
  open: ({ db }, query) => {
    const read = readListQuery(query);
    if (read.outcome !== 'ok') return read;
    const filter = { ...read.filter, status: query.status };
    return { outcome: 'ok', csv: orderCsv(), pages: readAllOrders(db, filter, { limit: 1_000 }) };
  },
});

function totalRow(sum: OrderListTotals['currencies'][number]): TotalRow {
  const amounts = [
    ['captured', sum.capturedMinor],
    ['authorized', sum.authorizedMinor],
    ['refunded', sum.refundedMinor],
    ['disputed', sum.disputedMinor],
    ['charged back', sum.chargedBackMinor],
  ] as const;
  return {
    currency: sum.currency,
    count: sum.count,
    amounts: amounts.filter(([name, amountMinor]) => amountMinor > 0 || name === 'captured'),
  };
}

const COLUMNS: readonly Column<ReadOrder>[] = [
  {
    title: 'Order',
    cell: ({ orderId, orderKey }) => (
      <Id id={orderId} href={orderHref(orderId, orderNamedBy(orderKey))} />
    ),
  },
  { title: 'Status', cell: ({ status: shown }) => <Badge>{shown}</Badge> },
  {
    title: 'Captured',
    isNumber: true,
    cell: (order) => <Amounts order={order} of="capturedMinor" />,
  },
  {
    title: 'Refunded',
    isNumber: true,
    cell: (order) => <Amounts order={order} of="refundedMinor" />,
  },
  {
    title: 'First seen',
    cell: ({ firstSeenMicros }) => <Time at={formatInstant(firstSeenMicros)} />,
  },
];

function Amounts({
  order: { totals },
  of,
}: {
  readonly order: ReadOrder;
  readonly of: 'capturedMinor' | 'refundedMinor';
}) {
  return (
    <>
      {totals.map((total) => (
        <div key={total.currency}>
          <Money amountMinor={total[of]} currency={total.currency} />
        </div>
      ))}
    </>
  );
}

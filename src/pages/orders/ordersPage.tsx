/** The list of orders, newest first. */
import { z } from 'zod';
import { cursor, orderStatus } from '../../console/schemas.ts';
import { REGISTERED } from '../../ledger/domain/expectation.ts';
import { ORDER_STATUSES } from '../../ledger/domain/order.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { readOrderPage } from '../../ledger/read/orderList.ts';
import type { ReadOrder } from '../../ledger/read/orders.ts';
import { cursorOf, placeRead, readCursor, timePlace } from '../../representation/cursor.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { type Column, DataTable, Pager } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import { orderHref, ordersHref } from '../links.ts';
import { definePage } from '../page.ts';

const PAGE_SIZE = 50;

export const ordersPage = definePage({
  path: '/orders',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ status: orderStatus.optional(), cursor }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, timePlace);
    if (from.outcome !== 'read') return from;
    const { rows, next } = await readOrderPage(
      db,
      { status: query.status },
      { after: placeRead(from.place), limit: PAGE_SIZE },
    );
    return { outcome: 'ok', data: { orders: rows, next: cursorOf(next), query } };
  },
  view: ({ orders, next, query: { status, cursor: current } }) => ({
    title: 'Orders',
    body: (
      <>
        <FilterForm action={ordersHref()}>
          <Select
            name="status"
            label="Status"
            value={status}
            any="Any"
            options={[...ORDER_STATUSES, REGISTERED]}
          />
        </FilterForm>
        <DataTable
          caption="Orders, newest first"
          columns={COLUMNS}
          rows={orders}
          keyOf={({ orderKey }) => orderKey}
          empty="No order matches. Remove a filter, or wait for the first event of an order."
        />
        <Pager
          first={current === undefined ? undefined : ordersHref({ status })}
          next={next === null ? undefined : ordersHref({ status, cursor: next })}
        />
      </>
    ),
  }),
});

const COLUMNS: readonly Column<ReadOrder>[] = [
  {
    title: 'Order',
    cell: ({ orderId, orderKey }) => (
      <Id id={orderId} href={orderHref(orderId, orderNamedBy(orderKey))} />
    ),
  },
  { title: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  { title: 'Captured', isNumber: true, cell: (order) => <Captured order={order} /> },
  {
    title: 'First seen',
    cell: ({ firstSeenMicros }) => <Time at={formatInstant(firstSeenMicros)} />,
  },
];

function Captured({ order: { totals } }: { readonly order: ReadOrder }) {
  return (
    <>
      {totals.map(({ currency, capturedMinor }) => (
        <div key={currency}>
          <Money amountMinor={capturedMinor} currency={currency} />
        </div>
      ))}
    </>
  );
}

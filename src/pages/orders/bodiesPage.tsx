/** Two bodies of an order side by side. */
import { z } from 'zod';
import { id, number, orderBy } from '../../console/schemas.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { readOrderBodies } from '../../ledger/read/orderBodies.ts';
import { readOrder } from '../../ledger/read/orders.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { Comparison, sideOf } from '../bodies/Comparison.tsx';
import { FilterForm, Hidden, Select } from '../components/forms.tsx';
import { bodiesHref, orderHref, ordersHref } from '../links.ts';
import { definePage } from '../page.ts';

export const bodiesPage = definePage({
  path: '/orders/{order_id}/bodies',
  permission: 'read',
  params: z.strictObject({ order_id: id }),
  query: z.strictObject({ by: orderBy, left: number.optional(), right: number.optional() }),
  load: async ({ db }, { params, query }) => {
    const order = await readOrder(db, { id: params.order_id, by: query.by });
    const events = (order?.timeline ?? []).filter((entry) => entry.type === 'event').toReversed();
    const [newest, before] = events;
    if (!order || !newest) {
      const message = `No event of an order is in the inbox under the id ${JSON.stringify(params.order_id)}.`;
      return { outcome: 'not_found', message };
    }
    const chosen = [query.left ?? (before ?? newest).number, query.right ?? newest.number] as const;
    // Only bodies of this order: the page must not become a way to read every event.
    const foreign = chosen.find((one) => !events.some((event) => event.number === one));
    if (foreign !== undefined) {
      return { outcome: 'not_found', message: `Event ${foreign} is not one of this order.` };
    }
    const [left, right] = await readOrderBodies(db, order.orderKey, chosen);
    if (!left || !right) throw new Error('two events have two sides');
    return { outcome: 'ok', data: { order, events, left, right } };
  },
  view: ({ order: { orderId, orderKey }, events, left, right }) => {
    const options = events.map((event) => ({
      value: String(event.number),
      label: `${event.number}: ${event.eventType ?? 'no type'}, ${formatInstant(event.atMicros).slice(0, 19)} UTC`,
    }));
    const by = orderNamedBy(orderKey);
    return {
      title: `Bodies of order ${orderId}`,
      crumbs: [
        { label: 'Orders', href: ordersHref() },
        { label: `Order ${orderId}`, href: orderHref(orderId, by) },
      ],
      body: (
        <>
          <FilterForm action={bodiesHref(orderId, by)}>
            {by === 'payment' ? <Hidden name="by" value={by} /> : null}
            <Select name="left" label="Left" value={String(left.number)} options={options} />
            <Select name="right" label="Right" value={String(right.number)} options={options} />
          </FilterForm>
          <Comparison
            left={sideOf(left.number, left, left.snapshots)}
            right={sideOf(right.number, right, right.snapshots)}
          />
          <p>A body that brought nothing new has no snapshot of its own.</p>
        </>
      ),
    };
  },
});

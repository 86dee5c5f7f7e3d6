/** Two bodies of an order side by side, with what Tallyhook read from each and what differs. */
import { z } from 'zod';
import { id, number, orderBy } from '../../console/schemas.ts';
import { describeAbsence } from '../../ledger/domain/bodyAbsence.ts';
import { type DiffRow, diffLines } from '../../ledger/domain/lineDiff.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { type OrderBody, readOrderBodies } from '../../ledger/read/orderBodies.ts';
import { readOrder } from '../../ledger/read/orders.ts';
import { jsonLines } from '../../representation/jsonLines.ts';
import { orderNamedBy } from '../../representation/order.ts';
import { ScrollRegion, Section } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { bodiesHref, orderHref, ordersHref } from '../links.ts';
import { definePage } from '../page.ts';

interface Side {
  readonly number: number;
  readonly body: readonly string[];
  readonly snapshots: readonly string[];
  /** Why there is no body. */
  readonly absence: string | undefined;
}

const MAX_LINES = 5_000;

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
    const sides = await readOrderBodies(db, order.orderKey, chosen);
    const [left, right] = sides.map(sideOf);
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
          <FilterForm action={bodiesHref(orderId)}>
            {by === 'payment' ? <input type="hidden" name="by" value={by} /> : null}
            <Select name="left" label="Left" value={String(left.number)} options={options} />
            <Select name="right" label="Right" value={String(right.number)} options={options} />
          </FilterForm>
          <Section title="As received">
            <Absences sides={[left, right]} />
            <Difference
              caption="The bodies, with their differences"
              left={left.body}
              right={right.body}
            />
          </Section>
          <Section title="As the ledger read it">
            <Difference
              caption="The snapshots that each body brought first"
              left={left.snapshots}
              right={right.snapshots}
            />
            <p>A body that brought nothing new has no snapshot of its own.</p>
          </Section>
        </>
      ),
    };
  },
});

function sideOf({ number: event, body, absence, snapshots }: OrderBody): Side {
  return {
    number: event,
    body: body ? jsonLines(body.toString('utf8')).slice(0, MAX_LINES) : [],
    snapshots: snapshots.flatMap(({ ref, content }) => [
      `${ref.kind} ${ref.id}`,
      ...Object.entries(content).map(([name, value]) => `  ${name}: ${String(value)}`),
    ]),
    absence: absence && describeAbsence(absence),
  };
}

function Absences({ sides }: { readonly sides: readonly Side[] }) {
  return (
    <>
      {sides.map(({ number: event, absence }, place) =>
        absence === undefined ? null : <p key={`${place}`}>{`Event ${event}: ${absence}.`}</p>,
      )}
    </>
  );
}

/** Rows of two texts; a line that only one side has is marked, in words and by its color. */
function Difference({
  caption,
  left,
  right,
}: {
  readonly caption: string;
  readonly left: readonly string[];
  readonly right: readonly string[];
}) {
  const rows = diffLines(left, right);
  if (rows.length === 0) return <p class="empty">Neither has any.</p>;
  return (
    <ScrollRegion label={caption}>
      <table class="difference">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <DifferenceRow key={`${place}`} row={row} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function DifferenceRow({ row: { left, right } }: { readonly row: DiffRow }) {
  return (
    <tr>
      <td>{right === undefined ? <del>{left}</del> : <code>{left}</code>}</td>
      <td>{left === undefined ? <ins>{right}</ins> : <code>{right}</code>}</td>
    </tr>
  );
}

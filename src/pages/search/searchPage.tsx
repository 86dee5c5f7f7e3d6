/** The search: straight to what was found, or a list of it by kind, or what can be searched. */
import { z } from 'zod';
import { searchText } from '../../console/routes/search.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { groupBy } from '../../platform/collections.ts';
import { orderNamedBy } from '../../representation/order.ts';
import {
  AMOUNT_LIMITS,
  describeScan,
  factsOf,
  type HitFacts,
  type HitKind,
} from '../../search/facts.ts';
import { search } from '../../search/search.ts';
import { MIN_TEXT_LENGTH, searchBodies } from '../../search/searchBodies.ts';
import { waitingEventsText } from '../../search/waitingEvents.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Badge, Id, Money, Time } from '../components/values.tsx';
import {
  alertHref,
  eventHref,
  findingHref,
  inboxHref,
  messageHref,
  orderHref,
  resourceHref,
  runHref,
  searchHref,
} from '../links.ts';
import { definePage } from '../page.ts';

interface Found {
  readonly text: string;
  readonly hits: readonly HitFacts[];
  /** What was searched, if the stored bodies were; undefined: ids, numbers and amounts. */
  readonly bodies: string | undefined;
  readonly isComplete: boolean;
  /** Events that wait, if nothing was found. */
  readonly waiting?: string | undefined;
}

export const searchPage = definePage({
  path: '/search',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ q: searchText.optional(), in: z.enum(['ids', 'bodies']).default('ids') }),
  load: async ({ db, clock }, { query: { q: text, in: where } }) => {
    if (text === undefined) return { outcome: 'ok', data: undefined };
    if (where === 'bodies') {
      if (text.length < MIN_TEXT_LENGTH) {
        const message = `A search of stored events needs at least ${MIN_TEXT_LENGTH} characters.`;
        return { outcome: 'invalid', message };
      }
      const result = await searchBodies({ db, clock }, text);
      const { hits, isComplete } = result;
      const bodies = describeScan(result);
      return { outcome: 'ok', data: { text, hits: hits.map(factsOf), bodies, isComplete } };
    }
    const { hits, isComplete, amount } = await search(db, text);
    const facts = hits.map(factsOf);
    const [only] = facts;
    if (only && facts.length === 1 && amount === undefined) {
      return { outcome: 'elsewhere', to: hrefOf(only) };
    }
    const waiting = facts.length === 0 ? await waitingEventsText(db) : undefined;
    return { outcome: 'ok', data: { text, hits: facts, bodies: undefined, isComplete, waiting } };
  },
  view: (found: Found | undefined) => ({
    title: found ? `Search: ${found.text}` : 'Search',
    body: found ? <Result {...found} /> : <Help />,
  }),
});

function hrefOf({ kind, id, orderKey }: HitFacts): string {
  switch (kind) {
    case 'order':
      return orderHref(id, orderKey === undefined ? undefined : orderNamedBy(orderKey));
    case 'payment':
    case 'refund':
    case 'dispute':
    case 'payout':
      return resourceHref(kind, id);
    case 'event':
      return eventHref(Number(id));
    case 'alert':
      return alertHref(Number(id));
    case 'finding':
      return findingHref(Number(id));
    case 'message':
      return messageHref(Number(id));
    case 'run':
      return runHref(Number(id));
  }
}

const TITLES: Readonly<Record<HitKind, string>> = {
  order: 'Orders',
  payment: 'Payments',
  refund: 'Refunds',
  dispute: 'Disputes',
  payout: 'Payouts',
  event: 'Events',
  alert: 'Alerts',
  finding: 'Findings',
  message: 'Messages',
  run: 'Reconcile runs',
};

const COLUMNS: readonly Column<HitFacts>[] = [
  { title: 'Id', cell: (hit) => <Id id={hit.id} href={hrefOf(hit)} /> },
  { title: 'State', cell: ({ state }) => <Badge>{state}</Badge> },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amounts }) =>
      amounts.length === 0 ? (
        <Money amountMinor={null} currency={null} />
      ) : (
        amounts.map((amount) => (
          <div key={amount.currency}>
            <Money {...amount} />
          </div>
        ))
      ),
  },
  { title: 'About', cell: (hit) => <About {...hit} /> },
  { title: 'Time', cell: ({ at }) => <Time at={at ?? null} /> },
];

function About({ kind, about, orderKey }: HitFacts) {
  if (kind === 'order' || orderKey === undefined) return <>{about ?? ''}</>;
  const id = orderIdOf(orderKey);
  return (
    <>
      order <Id id={id} href={orderHref(id, orderNamedBy(orderKey))} />
    </>
  );
}

function Result({ text, hits, bodies, isComplete, waiting }: Found) {
  return (
    <>
      <p>{summaryOf(hits.length, bodies)}</p>
      {waiting === undefined ? null : (
        <p>
          {waiting} <a href={inboxHref({ state: 'pending' })}>Pending events</a>
        </p>
      )}
      {[...groupBy(hits, ({ kind }) => kind)].map(([kind, rows]) => (
        <Section key={kind} title={TITLES[kind]}>
          <DataTable
            caption={`${TITLES[kind]} found`}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            empty="None."
          />
        </Section>
      ))}
      {isComplete || bodies !== undefined ? null : <p>{AMOUNT_LIMITS}</p>}
      {bodies === undefined && text.length >= MIN_TEXT_LENGTH ? <InBodies text={text} /> : null}
      {hits.length === 0 ? <Help /> : null}
    </>
  );
}

function summaryOf(count: number, bodies: string | undefined): string {
  const where = bodies === undefined ? '' : ` ${bodies}`;
  if (count === 0 && bodies === undefined) {
    return 'Nothing has this id, number, reference or amount. Ids are case-sensitive. If it is new, its event may not have arrived yet.';
  }
  if (count === 0) return `No stored event has this text.${where}`;
  return `${count === 1 ? '1 match.' : `${count} matches.`}${where}`;
}

/** The search of bodies reads much, so a person asks for it. */
function InBodies({ text }: { readonly text: string }) {
  return (
    <Section title="Search in stored events">
      <p>
        For a name, a mail address or a customer's id. It reads the bodies of events, the newest
        first, for at most three seconds.
      </p>
      <p>
        <a href={searchHref({ q: text, in: 'bodies' })}>Search stored events for this text</a>
      </p>
    </Section>
  );
}

function Help() {
  return (
    <Section title="What you can search for">
      <ul>
        <li>An id of an order, payment, refund, dispute, payout or event.</li>
        <li>A payout's reference.</li>
        <li>
          A number with its word: <code>alert 12</code>, <code>finding 3</code>,{' '}
          <code>message 7</code>, <code>run 4</code>, <code>event 99</code>.
        </li>
        <li>
          An amount with its currency: <code>54.00 EUR</code>, <code>EUR 54,00</code>,{' '}
          <code>900 JPY</code>.
        </li>
        <li>
          A name, a mail address or a customer's id, in a second step, while the bodies of events
          are stored.
        </li>
      </ul>
    </Section>
  );
}

/** The inbox: events as they arrived, and dead ones grouped by their error. */
import { z } from 'zod';
import { cursor } from '../../console/schemas.ts';
import { readEventRows } from '../../ledger/read/store/events.ts';
import { EVENT_STATES, type EventSummary } from '../../ledger/read/store/parts.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, Pager, Section } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { Badge, Id, Time, type Tone } from '../components/values.tsx';
import { eventHref, inboxHref } from '../links.ts';
import { definePage } from '../page.ts';
import { type ErrorGroup, groupByError } from './errorGroups.ts';

const PAGE_SIZE = 50;
/** Dead events that are grouped; more have one cause. */
const GROUPED_EVENTS = 500;

export const inboxPage = definePage({
  path: '/inbox',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ state: z.enum(EVENT_STATES).optional(), cursor }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const rows = await readEventRows(db, {
      state: query.state,
      below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
      limit: PAGE_SIZE + 1,
    });
    const { shown, next } = cutPage(rows, PAGE_SIZE, (row) => [row.id]);
    const below = Number.MAX_SAFE_INTEGER;
    const dead =
      query.state === 'dead' && query.cursor === undefined
        ? await readEventRows(db, { state: 'dead', below, limit: GROUPED_EVENTS })
        : [];
    return { outcome: 'ok', data: { events: shown, next, query, groups: groupByError(dead) } };
  },
  view: ({ events, next, groups, query: { cursor: current, state } }) => ({
    title: 'Inbox',
    body: (
      <>
        <FilterForm action={inboxHref()}>
          <Select name="state" label="State" value={state} any="Any" options={EVENT_STATES} />
        </FilterForm>
        {groups.length > 1 ? <Groups groups={groups} /> : null}
        <DataTable
          caption="Events, newest first"
          columns={COLUMNS}
          rows={events}
          keyOf={({ id }) => String(id)}
          empty="No event matches. Send one: npx tallyhook send docs/examples/payment_succeeded.json."
        />
        <Pager
          first={current === undefined ? undefined : inboxHref({ state })}
          next={next === null ? undefined : inboxHref({ state, cursor: next })}
        />
      </>
    ),
  }),
});

const COLUMNS: readonly Column<EventSummary>[] = [
  {
    title: 'Number',
    cell: ({ id }) => <a href={eventHref(id)}>{id}</a>,
  },
  {
    title: 'Event',
    cell: ({ eventId }) => (eventId === null ? 'no envelope' : <Id id={eventId} />),
  },
  { title: 'Type', cell: ({ eventType }) => eventType ?? 'unknown' },
  { title: 'State', cell: ({ state }) => <EventBadge state={state} /> },
  { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { title: 'Error', cell: ({ error }) => error ?? '' },
  { title: 'Received', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
];

const TONES: Readonly<Record<EventSummary['state'], Tone>> = {
  pending: 'plain',
  applied: 'good',
  not_applied: 'warn',
  dead: 'bad',
  discarded: 'plain',
};

export function EventBadge({ state }: Pick<EventSummary, 'state'>) {
  return <Badge tone={TONES[state]}>{state.replace('_', ' ')}</Badge>;
}

function Groups({ groups }: { readonly groups: readonly ErrorGroup[] }) {
  return (
    <Section title="By error">
      <DataTable
        caption="Dead events by error, the most frequent first"
        columns={GROUP_COLUMNS}
        rows={groups}
        keyOf={({ error }) => error}
        empty=""
      />
    </Section>
  );
}

const GROUP_COLUMNS: readonly Column<ErrorGroup>[] = [
  { title: 'Error', cell: ({ error }) => error },
  { title: 'Events', isNumber: true, cell: ({ count }) => count },
  {
    title: 'Newest',
    cell: ({ newest }) => <a href={eventHref(newest)}>{newest}</a>,
  },
];

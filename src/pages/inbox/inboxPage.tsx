/** The inbox: events as they arrived, and dead ones grouped by their error. */

import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { ofReplay } from '../../console/eventFilter.ts';
import { cursor } from '../../console/schemas.ts';
import { readEventListFilter } from '../../ledger/read/eventFilter.ts';
import { readEventRows, searchEvents } from '../../ledger/read/store/events.ts';
import { EVENT_STATES, type EventSummary } from '../../ledger/read/store/parts.ts';
import { encodePlace, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, Pager, Section } from '../components/blocks.tsx';
import { Check, Field, FilterForm, Hidden, RowsForm, Select } from '../components/forms.tsx';
import { Badge, Id, Time, type Tone } from '../components/values.tsx';
import {
  eventHref,
  inboxHref,
  type LinkQuery,
  newReplayHref,
  replayHref,
  replaysHref,
} from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { startReplay } from '../replays/replayActions.ts';
import { type ErrorGroup, groupByError } from './errorGroups.ts';
import { filterQuery, type InboxFilter, inboxFilter, timesOf } from './inboxFilter.ts';

const PAGE_SIZE = 50;
/** Dead events that are grouped; more have one cause. */
const GROUPED_EVENTS = 500;

export const inboxPage = definePage({
  path: '/inbox',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ ...inboxFilter, replay: ofReplay, cursor }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const wanted = { ...timesOf(query), replay: query.replay };
    const filter = await readEventListFilter(db, wanted);
    const below = from.place?.[0] ?? Number.MAX_SAFE_INTEGER;
    const { rows: events, next } = await searchEvents(db, filter, { below, limit: PAGE_SIZE });
    const first = { below: Number.MAX_SAFE_INTEGER, limit: GROUPED_EVENTS };
    const dead =
      query.state === 'dead' && query.cursor === undefined
        ? await readEventRows(db, { state: 'dead', ...first })
        : [];
    return { outcome: 'ok', data: { events, next, query, groups: groupByError(dead) } };
  },
  topics: () => ['inbox'],
  view: ({ events, next, groups, query }, viewer) => {
    const filter = filterQuery(query);
    const isOfReplay = query.replay !== undefined;
    const shown = { ...filter, replay: query.replay };
    return {
      title: 'Inbox',
      body: (
        <>
          <Filter query={query} replay={query.replay} />
          {isOfReplay ? (
            <p>
              Only events of <a href={replayHref(query.replay ?? 0)}>{`replay ${query.replay}`}</a>.
            </p>
          ) : null}
          {groups.length > 0 ? <Groups groups={groups} /> : null}
          <Choice
            viewer={viewer}
            filter={isOfReplay ? undefined : filter}
            isEmpty={events.length === 0}
          >
            <DataTable
              caption="Events, newest first"
              columns={
                viewer.may(startReplay.permission) ? COLUMNS.toSpliced(1, 0, SELECT) : COLUMNS
              }
              rows={events}
              keyOf={({ id }) => String(id)}
              empty={emptyText(next)}
            />
          </Choice>
          <Pager
            first={query.cursor === undefined ? undefined : inboxHref(shown)}
            next={
              next === undefined ? undefined : inboxHref({ ...shown, cursor: encodePlace([next]) })
            }
          />
        </>
      ),
    };
  },
});

function emptyText(next: number | undefined): string {
  if (next === undefined) {
    return 'No event matches. Beside the sandbox, `npx tallyhook trigger payment_succeeded` sends one.';
  }
  return `None from number ${next} on. The next page searches older events.`;
}

function Filter({
  query,
  replay,
}: {
  readonly query: InboxFilter;
  readonly replay: number | undefined;
}) {
  return (
    <FilterForm action={inboxHref()}>
      {replay === undefined ? null : <Hidden name="replay" value={String(replay)} />}
      <Select
        name="state"
        label="State"
        value={query.state}
        any="Any"
        options={EVENT_STATES.map((value) => ({ value, label: value.replace('_', ' ') }))}
      />
      <Field name="type" label="Type" value={query.type} />
      <Field name="order" label="Order" value={query.order} />
      <Field name="from" label="Received from (UTC)" type="datetime-local" value={query.from} />
      <Field name="to" label="Received before (UTC)" type="datetime-local" value={query.to} />
    </FilterForm>
  );
}

/** Around the table: what can be done with the checked events, or with all of the filter. */
function Choice({
  viewer,
  filter,
  isEmpty,
  children,
}: {
  readonly viewer: Viewer;
  /** Undefined: only checked events can be replayed. */
  readonly filter: LinkQuery | undefined;
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}) {
  const replays = <a href={replaysHref()}>Earlier replays</a>;
  if (isEmpty || !viewer.may(startReplay.permission)) {
    return (
      <>
        {children}
        <p>{replays}</p>
      </>
    );
  }
  return (
    <RowsForm action={newReplayHref()}>
      {children}
      <p class="choices">
        <button type="submit">Replay the checked events</button>{' '}
        {filter === undefined ? null : (
          <a href={newReplayHref(filter)}>Replay all events of this filter</a>
        )}{' '}
        {replays}
      </p>
    </RowsForm>
  );
}

const SELECT: Column<EventSummary> = {
  title: 'Select',
  cell: ({ id }) => (
    <Check
      name="event"
      value={String(id)}
      label={<span class="hidden">{`Select event ${id}`}</span>}
    />
  ),
};

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

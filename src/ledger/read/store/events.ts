/**
 * Statements that list the inbox for people and their programs.
 *
 * Types and times have no index, because one would make every receipt slower. A search by them reads at
 * most `MAX_SEARCHED` events and returns where it ended, so that a rare type costs no more than a
 * frequent one. One before a time begins where events of that time are, which the numbers show.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import { DAY_MS, HOUR_MS } from '../../../platform/time.ts';
import { EVENT_SELECT, type EventState, type EventSummary, NOT_APPLIED } from './parts.ts';

const WAITS = 'exists (select from pending p where p.webhook_event_id = e.id)';
const IS_DEAD = 'exists (select from dead_events d where d.webhook_event_id = e.id)';

/** The newest $2 events below number $1: of most states, they are most of the inbox. */
const NEWEST = {
  any: 'from webhook_events e where e.id < $1 order by e.id desc limit $2',
  applied: `
      from webhook_events e
     where e.id < $1 and not ${WAITS} and not ${IS_DEAD}
       and not exists (select from findings f
                        where f.subject = 'event:' || e.id and f.state = 'open'
                          and f.class in ${NOT_APPLIED})
     order by e.id desc limit $2`,
} as const;

/**
 * The numbers below $1 of events in a state, greatest first. Each state is looked for where it is
 * kept: among millions of applied events, the few dead ones must not be searched for.
 */
const NUMBERS: Readonly<Record<EventState | 'any', string>> = {
  any: `select e.id ${NEWEST.any}`,
  pending: `
    select e.webhook_event_id from pending e
     where e.webhook_event_id < $1
       and not exists (select from dead_events d where d.webhook_event_id = e.webhook_event_id)
     order by e.webhook_event_id desc limit $2`,
  dead: `
    select webhook_event_id from dead_events
     where webhook_event_id < $1 and discarded_at is null order by webhook_event_id desc limit $2`,
  discarded: `
    select webhook_event_id from dead_events
     where webhook_event_id < $1 and discarded_at is not null
     order by webhook_event_id desc limit $2`,
  not_applied: `
    select e.id
      from (select distinct substring(subject from '^event:([0-9]{1,18})$')::bigint as id
              from findings where state = 'open' and class in ${NOT_APPLIED}) e
     where e.id < $1 and not ${WAITS} and not ${IS_DEAD}
     order by e.id desc limit $2`,
  applied: `select e.id ${NEWEST.applied}`,
};

/** Events below an inbox number, newest first, of one state if one is given. */
export function readEventRows(
  db: Queryable,
  page: {
    readonly state: EventState | undefined;
    readonly below: number;
    readonly limit: number;
  },
): Promise<readonly EventSummary[]> {
  return db.query<EventSummary>(
    `${EVENT_SELECT}
      where e.id = any (array(${NUMBERS[page.state ?? 'any']}))
      order by e.id desc`,
    [page.below, page.limit],
  );
}

/** The most events that one search reads. */
const MAX_SEARCHED = 5_000;

export interface EventFilter {
  readonly state?: EventState | undefined;
  readonly type?: string | undefined;
  /** Of the receipt; included. */
  readonly from?: Date | undefined;
  /** Of the receipt; excluded. */
  readonly to?: Date | undefined;
  /** Only these inbox numbers. */
  readonly numbers?: readonly number[] | undefined;
}

export interface EventListFilter extends EventFilter {
  /** Only events that this replay of many has chosen. */
  readonly replay?: number | undefined;
}

interface FoundEvents {
  /** Newest first. */
  readonly rows: readonly EventSummary[];
  /** Events below this number were not searched; undefined at the end of the inbox. */
  readonly next: number | undefined;
}

/** Events of a filter below an inbox number, newest first. There may be fewer than the limit, although `next` is set. */
export async function searchEvents(
  db: Queryable,
  filter: EventListFilter,
  { below: end, limit }: { readonly below: number; readonly limit: number },
): Promise<FoundEvents> {
  const searched = needsSearch(filter) ? MAX_SEARCHED : limit + 1;
  const below = Math.min(end, await readStart(db, filter));
  const values = [below, searched, ...filterValues(filter)];
  const places = { numbers: '$6', replay: '$9' };
  const rows = await db.query<EventSummary>(
    `${EVENT_SELECT}
      where e.id = any (array(${candidates(filter, places)})) and ${MATCHES} and ($7::text is null or s.state = $7)
      order by e.id desc
      limit $8`,
    [...values, filter.state ?? null, limit + 1, ...replayValue(filter)],
  );
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id };
  return { rows, next: await readSearchEnd(db, filter, { below, searched }) };
}

async function readSearchEnd(
  db: Queryable,
  filter: EventListFilter,
  { below, searched }: { readonly below: number; readonly searched: number },
): Promise<number | undefined> {
  const places = { numbers: '$4', replay: '$5' };
  const [end] = await db.query<{ id: number; isPast: boolean }>(
    `select e.id, coalesce(e.received_at < $3::timestamptz, false) as "isPast"
       from webhook_events e
      where e.id = (select c.id from (${candidates(filter, places)}) as c (id) offset $2 - 1 limit 1)
        and ($4::bigint[] is null or e.id = any ($4::bigint[]))`,
    [
      below,
      searched,
      filter.from === undefined ? null : aDayBefore(filter.from),
      filter.numbers ?? null,
      ...replayValue(filter),
    ],
  );
  return end === undefined || end.isPast ? undefined : end.id;
}

/**
 * A receiver is unready while its clock differs by a minute; what it recalls after a failover of the database has the
 * times of the first receipt.
 */
const CLOCKS_DIFFER_MS = HOUR_MS;

/** The number below which a search begins: that of the first event behind its last time, found in forty steps. */
async function readStart(db: Queryable, { to }: EventFilter): Promise<number> {
  if (to === undefined) return Number.MAX_SAFE_INTEGER;
  const rows = await db.query<{ number: number }>(
    `with recursive bisected (low, high) as (
       select coalesce(min(id), 0), coalesce(max(id), 0) + 1 from webhook_events
       union all
       select case when e.received_at < $1 then e.id + 1 else b.low end,
              case when e.received_at < $1 then b.high else b.middle end
         from (select low, high, (low + high) / 2 as middle from bisected where low < high) b
         left join lateral (select id, received_at from webhook_events
                             where id >= b.middle and id < b.high order by id limit 1) e on true
     )
     select low as number from bisected where low >= high limit 1`,
    [new Date(to.getTime() + CLOCKS_DIFFER_MS).toISOString()],
  );
  return oneRow(rows).number;
}

/** Numbers follow the time of receipt, but for the clocks of receivers. */
function aDayBefore(time: Date): string {
  return new Date(time.getTime() - DAY_MS).toISOString();
}

export interface EventCount {
  readonly count: number;
  /** False: there are more events than were searched. */
  readonly isComplete: boolean;
}

/** More than a person checks one by one. A run counts what it replays. */
const MAX_COUNTED = 10_000;

/** How many events match a filter, among the newest `MAX_COUNTED` of its state and before its last time. */
export async function countEvents(db: Queryable, filter: EventFilter): Promise<EventCount> {
  const [row] = await db.query<{ count: number; searched: number }>(
    `select count(*) filter (where ${MATCHES}) as count, count(*) as searched from (${counted(filter)}) e`,
    [await readStart(db, filter), MAX_COUNTED, ...filterValues(filter)],
  );
  return { count: row?.count ?? 0, isComplete: (row?.searched ?? 0) < MAX_COUNTED };
}

/** Given numbers and those of a replay are found by themselves, unless they are those of one state. */
function needsSearch({ state, type, from, to, numbers, replay }: EventListFilter): boolean {
  const isStateSearched = state !== undefined && (numbers !== undefined || replay !== undefined);
  return isStateSearched || [type, from, to].some((value) => value !== undefined);
}

/** What is counted: looked up by their numbers one by one, most of the inbox would take a block for each. */
function counted(filter: EventFilter): string {
  const { state = 'any', numbers } = filter;
  const places = { numbers: '$6', replay: '' };
  const columns = 'select e.id, e.event_type, e.received_at';
  return numbers === undefined && (state === 'any' || state === 'applied')
    ? `${columns} ${NEWEST[state]}`
    : `${columns} from webhook_events e where e.id = any (array(${candidates(filter, places)}))`;
}

/** Where a statement has the values of a filter, such as `$6`. */
interface Places {
  readonly numbers: string;
  readonly replay: string;
}

/** The numbers below $1 among which a filter is searched, $2 at most, greatest first. */
function candidates({ state, numbers, replay }: EventListFilter, places: Places): string {
  if (numbers !== undefined) {
    const chosen = `and exists (select from replay_steps s
                                 where s.run_id = ${places.replay} and s.numbers @> array[e.id])`;
    return `select e.id from webhook_events e
             where e.id < $1 and e.id = any (${places.numbers}::bigint[])
                   ${replay === undefined ? '' : chosen}
             order by e.id desc limit $2`;
  }
  return replay === undefined ? NUMBERS[state ?? 'any'] : chosenNumbers(places.replay);
}

/**
 * The numbers below $1 that a replay has chosen. Its steps have their positions and their numbers in one
 * order, so reading begins at the step that spans $1.
 */
function chosenNumbers(replay: string): string {
  return `
    select n.id
      from replay_steps s
     cross join lateral unnest(s.numbers) as n (id)
     where s.run_id = ${replay} and n.id < $1
           and s.position <= coalesce((select above.position from replay_steps above
                                        where above.run_id = ${replay} and above.position >= $1
                                        order by above.position limit 1), $1)
     order by s.position desc, n.id desc limit $2`;
}

function replayValue({ replay }: EventListFilter): readonly number[] {
  return replay === undefined ? [] : [replay];
}

const MATCHES = `
  ($3::text is null or e.event_type = $3)
  and ($4::timestamptz is null or e.received_at >= $4)
  and ($5::timestamptz is null or e.received_at < $5)
  and ($6::bigint[] is null or e.id = any ($6::bigint[]))`;

function filterValues({ type, from, to, numbers }: EventFilter): readonly unknown[] {
  return [type ?? null, from?.toISOString() ?? null, to?.toISOString() ?? null, numbers ?? null];
}

/** The most events of an order that a filter by order finds. */
const MAX_ORDER_EVENTS = 1_000;

/** Inbox numbers of events that brought something new about an order, by its keys; newest first. */
export async function readOrderEvents(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<readonly number[]> {
  const rows = await db.query<{ id: number }>(
    `select distinct s.webhook_event_id as id
       from resources r
       join snapshots s on s.kind = r.kind and s.resource_id = r.id
      where r.order_key = any ($1::text[]) and s.webhook_event_id is not null
      order by 1 desc
      limit $2`,
    [orderKeys, MAX_ORDER_EVENTS],
  );
  return rows.map(({ id }) => id);
}

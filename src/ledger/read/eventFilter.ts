/** The filter of events: as people write it, as it is stored, and as it is searched. */
import type { Queryable } from '../../platform/db/database.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import { type EventFilter, type EventListFilter, readOrderEvents } from './store/events.ts';
import type { EventState } from './store/parts.ts';
import type { StoredFilter } from './store/replayRuns.ts';

export interface EventQuery {
  readonly state?: EventState | undefined;
  readonly type?: string | undefined;
  readonly order?: string | undefined;
  /** ISO, UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Replaces an order by the events that it has now.
 * @param chosen inbox numbers, of which an order leaves its own
 */
export async function readEventFilter(
  db: Queryable,
  { state, type, order, from, to }: EventQuery,
  chosen?: readonly number[],
): Promise<StoredFilter> {
  const lists = [
    order === undefined ? undefined : await readOrderEvents(db, orderKeysNamed(order)),
    chosen,
  ];
  return { state, type, from, to, numbers: inAll(lists.flatMap((list) => (list ? [list] : []))) };
}

/** What every list has; undefined without lists. */
function inAll(lists: readonly (readonly number[])[]): readonly number[] | undefined {
  const [first, ...others] = lists;
  const sets = others.map((list) => new Set(list));
  return first?.filter((number) => sets.every((set) => set.has(number)));
}

/** The filter of a list, which can be that of the events that a replay of many has chosen. */
export async function readEventListFilter(
  db: Queryable,
  { replay, ...query }: EventQuery & Pick<EventListFilter, 'replay'>,
): Promise<EventListFilter> {
  return { ...filterOf(await readEventFilter(db, query)), replay };
}

export function filterOf({ from, to, ...filter }: StoredFilter): EventFilter {
  return {
    ...filter,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}

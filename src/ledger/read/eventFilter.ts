/** The filter of events: as people write it, as it is stored, and as it is searched. */
import type { Queryable } from '../../platform/db/database.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import { type EventFilter, readOrderEvents } from './store/events.ts';
import type { EventState } from './store/parts.ts';
import { readReplayNumbers, type StoredFilter } from './store/replayRuns.ts';

export interface EventQuery {
  readonly state?: EventState | undefined;
  readonly type?: string | undefined;
  readonly order?: string | undefined;
  /** The number of a replay of many events. */
  readonly replay?: number | undefined;
  /** ISO, UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Replaces an order by the events that it has now, and a replay by those that it has chosen.
 * @param chosen inbox numbers, of which an order leaves its own
 */
export async function readEventFilter(
  db: Queryable,
  { state, type, order, replay, from, to }: EventQuery,
  chosen?: readonly number[],
): Promise<StoredFilter> {
  const lists = [
    order === undefined ? undefined : await readOrderEvents(db, orderKeysNamed(order)),
    replay === undefined ? undefined : await readReplayNumbers(db, replay),
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

export function filterOf({ from, to, ...filter }: StoredFilter): EventFilter {
  return {
    ...filter,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}

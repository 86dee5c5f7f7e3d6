/** The filter of events: as people write it, as it is stored, and as it is searched. */
import type { Queryable } from '../../platform/db/database.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import { type EventFilter, readOrderEvents } from './store/events.ts';
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
  const ofOrder =
    order === undefined ? undefined : await readOrderEvents(db, orderKeysNamed(order));
  const numbers =
    ofOrder && chosen ? ofOrder.filter((number) => chosen.includes(number)) : (ofOrder ?? chosen);
  return { state, type, from, to, numbers };
}

export function filterOf({ from, to, ...filter }: StoredFilter): EventFilter {
  return {
    ...filter,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}

/**
 * Reads the inbox in the order of its numbers, as it grows.
 *
 * Terms
 *   settled  a number through which no event can appear anymore
 *
 * Invariants
 *   F1 An event gets its number before its commit, so a lower number can appear after a higher one. Events
 *      are returned only through a settled number: the newest that was seen, once every transaction has
 *      ended that wrote to the inbox after it was seen.
 *   F2 Each event is returned once, in the order of numbers. A read that fails changes nothing, so the next
 *      one continues where the last one ended.
 *   F3 An event belongs to an order if it brought something new about it, which is known once it is applied.
 *      With an order, events are returned through the first one that waits to be applied.
 *   F4 After a failover to a server without the last events, their numbers are assigned to others. Reading goes
 *      back to an event that is known to be from before the failover, so events are returned again.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import {
  readEventsBetween,
  readFirstPending,
  readInboxEnd,
  readInboxWriters,
  readNumbersOfOrder,
} from './store/following.ts';
import type { EventSummary } from './store/parts.ts';

export interface FollowQuery {
  readonly type?: string | undefined;
  readonly order?: string | undefined;
}

export type FollowStart =
  /** The inbox will be read after a number; `newest` is its last event now. */
  | { readonly outcome: 'started'; readonly newest: number }
  /** Transactions that write to the inbox have yet to end. */
  | { readonly outcome: 'unsettled' };

export interface InboxFollower {
  /** Begins after a number, or with the next event to arrive. To be repeated while it is unsettled. */
  start(after: number | undefined): Promise<FollowStart>;
  /** The next events of the query, of at most so many that are read; none if there are none yet. */
  next(limit: number): Promise<FollowedPage>;
  /** Events through this number may have been returned before; 0 unless there was a failover (F4). */
  repeatsThrough(): number;
}

export interface FollowedPage {
  readonly events: readonly EventSummary[];
  /** Whether more can be read at once. */
  readonly hasMore: boolean;
}

/** A number that was seen, and the transactions that may still add lower ones. */
interface Candidate {
  readonly newest: number;
  readonly writers: readonly string[];
}

export function createInboxFollower(db: Queryable, { type, order }: FollowQuery): InboxFollower {
  let candidate: Candidate | undefined;
  let settled = 0;
  let position = 0;
  let epoch: number | undefined;
  let repeatsThrough = 0;

  /** Moves `settled` on, as far as that is possible without a wait (F1). */
  const settle = async (): Promise<boolean> => {
    const end = await readInboxEnd(db);
    if (epoch !== undefined && end.epoch !== epoch) {
      candidate = undefined;
      repeatsThrough = Math.max(repeatsThrough, position);
      settled = Math.min(settled, end.inboxAfter);
      position = Math.min(position, end.inboxAfter);
    }
    epoch = end.epoch;
    const newest = candidate?.newest ?? end.newest;
    if (newest <= settled) return true;
    const now = await readInboxWriters(db);
    const writers = candidate ? candidate.writers.filter((one) => now.includes(one)) : now;
    candidate = writers.length > 0 ? { newest, writers } : undefined;
    if (!candidate) settled = newest;
    return candidate === undefined;
  };
  const readableThrough = async (): Promise<number> => {
    if (order === undefined) return settled;
    const waiting = await readFirstPending(db, position);
    return waiting === undefined ? settled : Math.min(settled, waiting - 1);
  };
  const matching = async (rows: readonly EventSummary[]): Promise<readonly EventSummary[]> => {
    const ofType = type === undefined ? rows : rows.filter(({ eventType }) => eventType === type);
    if (order === undefined || ofType.length === 0) return ofType;
    const numbers = ofType.map(({ id }) => id);
    const ofOrder = new Set(await readNumbersOfOrder(db, orderKeysNamed(order), numbers));
    return ofType.filter(({ id }) => ofOrder.has(id));
  };
  return {
    start: async (after) => {
      if (!(await settle())) return { outcome: 'unsettled' };
      position = after ?? settled;
      return { outcome: 'started', newest: settled };
    },
    next: async (limit) => {
      await settle();
      const through = await readableThrough();
      if (through <= position) return { events: [], hasMore: false };
      const rows = await readEventsBetween(db, { after: position, through, limit });
      const events = await matching(rows);
      const hasMore = rows.length === limit;
      position = (hasMore ? rows.at(-1)?.id : undefined) ?? through;
      return { events, hasMore };
    },
    repeatsThrough: () => repeatsThrough,
  };
}

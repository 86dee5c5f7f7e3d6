/**
 * The change feed's publisher and its reader.
 *
 * 1. Numbers are given after a change was committed, by one publisher at a time, in one transaction
 *    with everything it numbers. So numbers appear in their order: a reader that goes on after the
 *    last number it saw misses nothing and sees nothing twice.
 * 2. Reading publishes first, so that a reader need not wait for the schedule; the schedule
 *    publishes what nobody asks for.
 */
import type { Database } from '../platform/db/database.ts';
import type { NumberedChange } from './domain/changes.ts';
import { publishChanges, readChanges, readLastNumber, tryLockFeed } from './store/changes.ts';

/** Rows numbered in one transaction: some tens of milliseconds. */
const PUBLISH_ROWS = 2_000;
/** A schedule's run gives up after so many; a backlog is left to the next run. */
const MAX_ROUNDS = 200;

export interface ChangePage {
  readonly changes: readonly NumberedChange[];
  readonly hasMore: boolean;
}

export type FeedReading =
  | ({ readonly outcome: 'read' } & ChangePage)
  /** The cursor was never given out by this feed: the database is older than its reader. */
  | { readonly outcome: 'ahead'; readonly last: number };

export interface ChangeFeed {
  /** Numbers what is committed; leaves it to another publisher if there is one at work. */
  publish(): Promise<void>;
  /** Up to `limit` changes after the number `after`, those just committed included. */
  read(page: { readonly after: number; readonly limit: number }): Promise<FeedReading>;
}

export function createChangeFeed(db: Database): ChangeFeed {
  const publishSome = (): Promise<number> =>
    db.transaction(async (tx) => ((await tryLockFeed(tx)) ? publishChanges(tx, PUBLISH_ROWS) : 0));
  return {
    publish: async () => {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        if ((await publishSome()) < PUBLISH_ROWS) return;
      }
    },
    read: async ({ after, limit }) => {
      await publishSome();
      const rows = await readChanges(db, { after, limit: limit + 1 });
      if (rows.length === 0 && after > 0) {
        const last = await readLastNumber(db);
        if (after > last) return { outcome: 'ahead', last };
      }
      return { outcome: 'read', changes: rows.slice(0, limit), hasMore: rows.length > limit };
    },
  };
}

/**
 * Publishes and reads the change feed.
 *
 * 1. Publishing assigns numbers to committed changes, in one transaction and with one publisher at a
 *    time. So numbers become visible in order, and a reader that continues after the last number it
 *    read misses nothing and reads nothing twice.
 * 2. A server that took over or was started begins an epoch of numbers (domain/feedEpochs.ts). A reader of
 *    changes that it lacks gets no page but the outcome `undone`.
 * 3. A read publishes first, so that a reader does not wait for the schedule. The schedule publishes
 *    changes that nobody reads. A database user that may only read leaves it to the schedule.
 */
import type { Database } from '../platform/db/database.ts';
import { isForbidden } from '../platform/db/failures.ts';
import type { NumberedChange } from './domain/changes.ts';
import { positionOf } from './domain/feedEpochs.ts';
import { publishChanges, readChanges, readLastNumber, tryLockFeed } from './store/changes.ts';

/** The most changes numbered in one transaction, which takes tens of milliseconds. */
const PUBLISH_ROWS = 2_000;
/** The most rounds of one scheduled run; the next run continues with the backlog. */
const MAX_ROUNDS = 200;

export interface ChangePage {
  readonly changes: readonly NumberedChange[];
  readonly hasMore: boolean;
}

export type FeedReading =
  | ({ readonly outcome: 'read' } & ChangePage)
  /** The feed never assigned this number: the database was restored from before the reader's last read. */
  | { readonly outcome: 'ahead'; readonly last: number }
  /** Retention removed changes after this number; `first` is the first that is left. */
  | { readonly outcome: 'removed'; readonly first: number }
  /** The database lost changes after `continueAfter` in a failover, and the reader has read some of them. */
  | { readonly outcome: 'undone'; readonly continueAfter: number };

export interface ChangeFeed {
  /** Numbers committed changes, unless another publisher is doing so. */
  publish(): Promise<void>;
  /** Reads up to `limit` changes after the number `after`, including those just committed. */
  read(page: { readonly after: number; readonly limit: number }): Promise<FeedReading>;
}

export function createChangeFeed(db: Database): ChangeFeed {
  const publishSome = (): Promise<number> =>
    db.transaction(async (tx) => ((await tryLockFeed(tx)) ? publishChanges(tx, PUBLISH_ROWS) : 0));
  let mayPublish = true;
  const publishForReader = async (): Promise<void> => {
    if (!mayPublish) return;
    try {
      await publishSome();
    } catch (error) {
      if (!isForbidden(error)) throw error;
      mayPublish = false;
    }
  };
  return {
    publish: async () => {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        if ((await publishSome()) < PUBLISH_ROWS) return;
      }
    },
    read: async ({ after, limit }) => {
      await publishForReader();
      const { changes: rows, laterEpochs } = await readChanges(db, { after, limit: limit + 1 });
      const position = positionOf(after, laterEpochs);
      if (position.outcome === 'undone') return position;
      if (rows.length === 0 && after > 0) {
        const last = await readLastNumber(db);
        if (after > last) return { outcome: 'ahead', last };
      }
      // Numbers have no other gaps, so a gap after the position is what retention removed.
      const first = rows[0]?.number;
      if (first !== undefined && first > position.next) return { outcome: 'removed', first };
      return { outcome: 'read', changes: rows.slice(0, limit), hasMore: rows.length > limit };
    },
  };
}

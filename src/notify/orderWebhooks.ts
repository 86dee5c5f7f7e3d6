/**
 * Order notices: a reader of the change feed that writes messages to the shop, and moves its place
 * on in the same transaction. Nothing of it is done where orders change.
 *
 * 1. It begins at the end of the feed when an address is set for the first time, and goes on from
 *    its place ever after: a stop, however long, loses nothing.
 * 2. Of several workers one moves the place on; what the others wrote is rolled back with it.
 * 3. Messages of one order go out one after the other, in the order of its changes.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { ChannelName } from './domain/message.ts';
import { type OrderChange, type OrderNow, planNotices } from './domain/orderWebhooks.ts';
import { insertMessages, type NewMessage } from './store/messages.ts';
import {
  advancePosition,
  insertPosition,
  readPosition,
  readTold,
  saveTold,
} from './store/orderWebhooks.ts';

/** What the ledger tells, in words that this side understands. */
export interface OrderFeed {
  /** The number of the last change there is. */
  readLastNumber(): Promise<number>;
  /** Changes after a number, those of orders only, and the number up to which was read. */
  readAfter(
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly OrderChange[]; readonly last: number }>;
  /** Orders as they stand, by their keys; those that are not known are missing. */
  readOrders(tx: Queryable, orderKeys: readonly string[]): Promise<ReadonlyMap<string, OrderNow>>;
}

export interface TellShopParts {
  readonly db: Database;
  readonly feed: OrderFeed;
  readonly clock: Clock;
  readonly newMessageId: () => string;
}

const CHANGES_PER_ROUND = 200;
const MAX_ROUNDS = 20;

/** Turns what changed into notices, a bounded number of them. Returns the channel if there are new ones. */
export async function tellShop(parts: TellShopParts): Promise<ReadonlySet<ChannelName>> {
  const { db, feed } = parts;
  const place = await readPosition(db);
  if (place === undefined) {
    await insertPosition(db, await feed.readLastNumber());
    return new Set();
  }
  let from = place;
  let hasWritten = false;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { changes, last } = await feed.readAfter(from, CHANGES_PER_ROUND);
    if (last === from) break;
    const written = await writeNotices(parts, changes, { from, to: last });
    if (written === 'outrun') break;
    hasWritten ||= written > 0;
    from = last;
  }
  return new Set(hasWritten ? (['shop'] as const) : []);
}

/** Returns how many were written, or that somebody else was quicker. */
function writeNotices(
  { db, feed, clock, newMessageId }: TellShopParts,
  changes: readonly OrderChange[],
  step: { readonly from: number; readonly to: number },
): Promise<number | 'outrun'> {
  return db.transaction(async (tx) => {
    if (!(await advancePosition(tx, step))) return 'outrun';
    const orderKeys = [...new Set(changes.map(({ orderKey }) => orderKey))];
    if (orderKeys.length === 0) return 0;
    const orders = await feed.readOrders(tx, orderKeys);
    const { notices, told } = planNotices(changes, orders, await readTold(tx, orderKeys));
    const messages = notices.map(
      ({ orderKey, type, orderId, at, data }): NewMessage => ({
        id: newMessageId(),
        channel: 'shop',
        content: { kind: 'order', type, orderId, at, data },
        stream: `shop/${orderKey}`,
      }),
    );
    if (messages.length > 0) await insertMessages(tx, messages, new Date(clock.nowMs()));
    if (told.size > 0) await saveTold(tx, told);
    return notices.length;
  });
}

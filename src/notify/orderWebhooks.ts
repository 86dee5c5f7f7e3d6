/**
 * Enqueues order webhooks: reads the change feed and writes messages to the shop. It moves its position
 * in the feed in the same transaction; transactions that change orders do no extra work.
 *
 * 1. It starts at the end of the feed when an address is configured for the first time, and continues
 *    from its position from then on. No change is lost while no worker runs.
 * 2. When several workers read the same changes, one moves the position and the others roll back.
 * 3. Messages about one order are delivered one at a time, in the order of its changes.
 */
import { type OrderFeed, readCurrentOrders } from '../ledger/read/orderFeed.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { orderWithPartsJson } from '../representation/order.ts';
import type { WebhookData } from '../webhooks/webhooks.ts';
import type { ChannelName } from './domain/message.ts';
import { type CurrentOrder, type OrderChange, planOrderWebhooks } from './domain/orderWebhooks.ts';
import { insertMessages, type NewMessage } from './store/messages.ts';
import {
  advancePosition,
  insertPosition,
  readPosition,
  readSentTotals,
  saveSentTotals,
} from './store/orderWebhooks.ts';

export interface OrderWebhookParts {
  readonly db: Database;
  readonly feed: OrderFeed;
  readonly clock: Clock;
  readonly newMessageId: () => string;
}

const CHANGES_PER_BATCH = 200;
const MAX_BATCHES = 20;

/** Whether there may be webhooks to enqueue. */
export async function hasOrderChanges({
  db,
  feed,
}: Pick<OrderWebhookParts, 'db' | 'feed'>): Promise<boolean> {
  const position = await readPosition(db);
  return position === undefined || (await feed.hasNews(position));
}

/** Enqueues webhooks for a bounded number of changes. Returns the channel if it has new messages. */
export async function enqueueOrderWebhooks(
  parts: OrderWebhookParts,
): Promise<ReadonlySet<ChannelName>> {
  const { db, feed } = parts;
  const position = await readPosition(db);
  if (position === undefined) {
    await insertPosition(db, await feed.readLastNumber());
    return new Set();
  }
  let from = position;
  let hasWritten = false;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const { changes, last } = await feed.readAfter(from, CHANGES_PER_BATCH);
    if (last === from) break;
    const written = await writeWebhooks(parts, changes, { from, to: last });
    if (written === 'overtaken') break;
    hasWritten ||= written > 0;
    from = last;
  }
  return new Set(hasWritten ? (['shop'] as const) : []);
}

/** Returns how many messages were written, or that another worker processed the changes first. */
function writeWebhooks(
  { db, clock, newMessageId }: OrderWebhookParts,
  changes: readonly OrderChange[],
  step: { readonly from: number; readonly to: number },
): Promise<number | 'overtaken'> {
  return db.transaction(async (tx) => {
    if (!(await advancePosition(tx, step))) return 'overtaken';
    const orderKeys = [...new Set(changes.map(({ orderKey }) => orderKey))];
    if (orderKeys.length === 0) return 0;
    const { webhooks, sentTotals } = planOrderWebhooks(
      changes,
      await readOrders(tx, orderKeys),
      await readSentTotals(tx, orderKeys),
    );
    const messages = webhooks.map(
      ({ orderKey, type, orderId, at, data }): NewMessage => ({
        id: newMessageId(),
        channel: 'shop',
        content: { kind: 'order', type, orderId, at, data },
        stream: `shop/${orderKey}`,
      }),
    );
    if (messages.length > 0) await insertMessages(tx, messages, new Date(clock.nowMs()));
    if (sentTotals.size > 0) await saveSentTotals(tx, sentTotals);
    return messages.length;
  });
}

async function readOrders(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<ReadonlyMap<string, CurrentOrder>> {
  const orders = await readCurrentOrders(tx, orderKeys);
  return new Map(
    orders.map((order) => {
      const json: WebhookData<'order.updated'>['order'] = orderWithPartsJson(order);
      const { orderId, lastChange } = order;
      return [order.orderKey, { orderId, totals: JSON.stringify(json.totals), json, lastChange }];
    }),
  );
}

/** A database, a shop that receives order webhooks, and the notifier that delivers to it. */
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createTestNotifier, type TestNotifier } from './notifier.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from './receivers.ts';

export interface ShopReceiver {
  readonly db: TestDatabase;
  readonly shop: HttpReceiver;
  readonly notifier: TestNotifier;
  /** Another worker that delivers the same messages. */
  anotherNotifier(): TestNotifier;
  close(): Promise<void>;
}

export async function startShopReceiver(): Promise<ShopReceiver> {
  const db = await createTestDatabase();
  const shop = await startHttpReceiver(SIGNING_SECRET);
  const env = { ORDER_WEBHOOK_URL: shop.url, ORDER_WEBHOOK_SECRET: SIGNING_SECRET };
  return {
    db,
    shop,
    notifier: createTestNotifier({ db, env }),
    anotherNotifier: () => createTestNotifier({ db, env }),
    close: async () => {
      await shop.close();
      await db.drop();
    },
  };
}

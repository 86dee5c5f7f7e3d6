/** Changes of orders and the current state of orders, for order webhooks. */
import { groupBy } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { createChangeFeed } from '../changeFeed.ts';
import type { NumberedChange } from '../domain/changes.ts';
import { readLastNumber, readLastNumbersOf, readNews } from '../store/changes.ts';
import { addMoney, limitParts, type OrderParts, type ReadOrder } from './orders.ts';
import { readPartsOf, readRowsOf } from './store/orders.ts';

/** An order without its timeline. */
export interface OrderWithParts extends ReadOrder, OrderParts {
  /** The number of the last change that it may include; undefined while that change has none. */
  readonly lastChange: number | undefined;
}

export type ChangeOfOrder = NumberedChange & { readonly orderKey: string };

export interface OrderFeed {
  /** The number of the last change, including those that were just committed. */
  readLastNumber(): Promise<number>;
  /**
   * Whether there are changes after a number, of orders or of other resources, or such without a number
   * that no earlier call saw. Numbers none. Cheap, and may miss a change that commits after one with a
   * greater id: `readAfter` finds it.
   */
  hasNews(after: number): Promise<boolean>;
  /** Changes of orders after a number, and the number of the last change that was read. */
  readAfter(
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly ChangeOfOrder[]; readonly last: number }>;
}

export function createOrderFeed(db: Database): OrderFeed {
  const feed = createChangeFeed(db);
  let seenId = 0;
  return {
    readLastNumber: async () => {
      await feed.publish();
      return readLastNumber(db);
    },
    hasNews: async (after) => {
      const { isNumbered, newestId } = await readNews(db, { after, seenId });
      seenId = newestId ?? seenId;
      return isNumbered || newestId !== null;
    },
    readAfter: async (after, limit) => {
      const reading = await feed.read({ after, limit });
      if (reading.outcome === 'ahead') {
        throw new Error(
          `change ${after} was processed before, and the change feed ends at ${reading.last}: ` +
            'was the database restored from an older backup?',
        );
      }
      if (reading.outcome === 'removed') {
        throw new Error(
          `change ${after} was processed before, and the change feed begins at ${reading.first}: ` +
            'the changes between them were removed, which retention never does',
        );
      }
      if (reading.outcome === 'undone') {
        throw new Error(
          `change ${after} was processed before, and the database lost the changes after ` +
            `${reading.continueAfter} in a failover, but not the position of order webhooks: ` +
            'was one table restored alone?',
        );
      }
      return {
        changes: reading.changes.filter((change) => change.orderKey !== null) as ChangeOfOrder[],
        last: reading.changes.at(-1)?.number ?? after,
      };
    },
  };
}

/** The current state of orders, by their keys; unknown keys are left out. */
export async function readCurrentOrders(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly OrderWithParts[]> {
  const orders = await addMoney(tx, await readRowsOf(tx, orderKeys));
  const parts = groupBy(await readPartsOf(tx, orderKeys), ({ orderKey }) => orderKey);
  // Read after the orders: a change that they include was committed by then, so it is visible here.
  const lastChanges = await readLastNumbersOf(tx, orderKeys);
  return orders.map((order) => ({
    ...order,
    ...limitParts((parts.get(order.orderKey) ?? []).map(({ orderKey: _, ...part }) => part)),
    lastChange: lastChanges.get(order.orderKey),
  }));
}

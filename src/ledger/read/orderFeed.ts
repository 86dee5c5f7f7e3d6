/** Changes of orders and the orders as they stand, for whoever tells the shop of them. */
import { groupBy } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { createChangeFeed } from '../changeFeed.ts';
import type { NumberedChange } from '../domain/changes.ts';
import { readLastNumber, readLastNumbersOf } from '../store/changes.ts';
import { addMoney, type OrderParts, type ReadOrder, tellParts } from './orders.ts';
import { readPartsOf, readRowsOf } from './store/orders.ts';

/** An order without its history. */
export interface OrderWithParts extends ReadOrder, OrderParts {
  /** The number of the last change that it may show; undefined while that one has none. */
  readonly lastChange: number | undefined;
}

export type ChangeOfOrder = NumberedChange & { readonly orderKey: string };

export interface OrderFeed {
  /** The number of the last change there is, those just committed included. */
  readLastNumber(): Promise<number>;
  /** Changes after a number, those of orders only, and the number up to which was read. */
  readAfter(
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly ChangeOfOrder[]; readonly last: number }>;
}

export function createOrderFeed(db: Database): OrderFeed {
  const feed = createChangeFeed(db);
  return {
    readLastNumber: async () => {
      await feed.publish();
      return readLastNumber(db);
    },
    readAfter: async (after, limit) => {
      const reading = await feed.read({ after, limit });
      if (reading.outcome === 'ahead') {
        throw new Error(
          `change ${after} was read before and is not there: the feed ends at ${reading.last}`,
        );
      }
      return {
        changes: reading.changes.filter((change) => change.orderKey !== null) as ChangeOfOrder[],
        last: reading.changes.at(-1)?.number ?? after,
      };
    },
  };
}

/** Orders as they stand, by their keys. */
export async function readOrdersAsTheyStand(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly OrderWithParts[]> {
  const orders = await addMoney(tx, await readRowsOf(tx, orderKeys));
  const parts = groupBy(await readPartsOf(tx, orderKeys), ({ orderKey }) => orderKey);
  // After the orders: a change that they show was committed by then, so it is seen here.
  const lastChanges = await readLastNumbersOf(tx, orderKeys);
  return orders.map((order) => ({
    ...order,
    ...tellParts((parts.get(order.orderKey) ?? []).map(({ orderKey: _, ...part }) => part)),
    lastChange: lastChanges.get(order.orderKey),
  }));
}

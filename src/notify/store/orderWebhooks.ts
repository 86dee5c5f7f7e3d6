/** Statements on order webhooks: the position in the change feed and the totals that were sent. */
import type { Queryable } from '../../platform/db/database.ts';
import type { SentTotals } from '../domain/orderWebhooks.ts';

/** The number of the last change that was processed; undefined before the first. */
export async function readPosition(db: Queryable): Promise<number | undefined> {
  const rows = await db.query<{ number: number }>(
    'select change_number as number from order_webhook_position',
  );
  return rows[0]?.number;
}

/** Starts at a change, unless another worker has set the position. */
export async function insertPosition(db: Queryable, changeNumber: number): Promise<void> {
  await db.query(
    `insert into order_webhook_position (change_number) values ($1) on conflict do nothing`,
    [changeNumber],
  );
}

/**
 * Moves the position from one change to another.
 * @returns false when another worker has moved it
 */
export async function advancePosition(
  tx: Queryable,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const rows = await tx.query(
    `update order_webhook_position set change_number = $2 where change_number = $1
     returning change_number`,
    [from, to],
  );
  return rows.length > 0;
}

/** The totals of orders in the last webhook about each, by order key. */
export async function readSentTotals(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ orderKey: string; totals: string }>(
    `select order_key as "orderKey", totals
       from order_webhook_totals
      where order_key = any ($1::text[])
      limit $2`,
    [orderKeys, orderKeys.length],
  );
  return new Map(rows.map(({ orderKey, totals }) => [orderKey, totals]));
}

export async function saveSentTotals(
  tx: Queryable,
  sent: ReadonlyMap<string, SentTotals>,
): Promise<void> {
  await tx.query(
    `insert into order_webhook_totals as n (order_key, change_number, totals)
     select order_key, change_number, totals
       from unnest($1::text[], $2::bigint[], $3::text[]) as u (order_key, change_number, totals)
     on conflict (order_key) do update
        set change_number = excluded.change_number, totals = excluded.totals`,
    [
      [...sent.keys()],
      [...sent.values()].map(({ changeNumber }) => changeNumber),
      [...sent.values()].map(({ totals }) => totals),
    ],
  );
}

/** Statements on what the shop was told of its orders. */
import type { Queryable } from '../../platform/db/database.ts';

/** The number of the last change that was made into notices; undefined before the first. */
export async function readPosition(db: Queryable): Promise<number | undefined> {
  const rows = await db.query<{ number: number }>(
    'select change_number as number from order_notice_position',
  );
  return rows[0]?.number;
}

/** Begins at a change, unless somebody has begun. */
export async function insertPosition(db: Queryable, changeNumber: number): Promise<void> {
  await db.query(
    `insert into order_notice_position (change_number) values ($1) on conflict do nothing`,
    [changeNumber],
  );
}

/**
 * Moves on from one change to another.
 * @returns false when somebody else has moved on meanwhile
 */
export async function advancePosition(
  tx: Queryable,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const rows = await tx.query(
    `update order_notice_position set change_number = $2 where change_number = $1
     returning change_number`,
    [from, to],
  );
  return rows.length > 0;
}

/** The money of orders as the shop was told last, by their keys. */
export async function readTold(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ orderKey: string; money: string }>(
    `select order_key as "orderKey", money
       from order_notices
      where order_key = any ($1::text[])
      limit $2`,
    [orderKeys, orderKeys.length],
  );
  return new Map(rows.map(({ orderKey, money }) => [orderKey, money]));
}

/** Notes what the shop was told. */
export async function saveTold(
  tx: Queryable,
  told: ReadonlyMap<string, { readonly changeNumber: number; readonly money: string }>,
): Promise<void> {
  await tx.query(
    `insert into order_notices as n (order_key, change_number, money)
     select order_key, change_number, money
       from unnest($1::text[], $2::bigint[], $3::text[]) as u (order_key, change_number, money)
     on conflict (order_key) do update
        set change_number = excluded.change_number, money = excluded.money`,
    [
      [...told.keys()],
      [...told.values()].map(({ changeNumber }) => changeNumber),
      [...told.values()].map(({ money }) => money),
    ],
  );
}

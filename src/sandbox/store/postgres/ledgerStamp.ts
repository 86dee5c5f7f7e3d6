/** Reads the merchant of the ledger in this database. The sandbox reads nothing else outside its schema. */
import type { Queryable } from '../../../platform/db/database.ts';

/** @returns the merchant account of the ledger, if there is a ledger and it has one */
export async function readLedgerStamp(db: Queryable): Promise<string | undefined> {
  const [table] = await db.query<{ present: boolean }>(
    `select to_regclass('installation') is not null as present`,
  );
  if (!table?.present) return undefined;
  const rows = await db.query<{ merchantId: string }>(
    'select merchant_id as "merchantId" from installation limit 1',
  );
  return rows[0]?.merchantId;
}

/** Whether a sandbox has used this database. */
export async function hasSandbox(db: Queryable): Promise<boolean> {
  const rows = await db.query<{ present: boolean }>(
    `select to_regclass('sandbox.account') is not null as present`,
  );
  return rows[0]?.present ?? false;
}

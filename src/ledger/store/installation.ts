/** Statements on the installation: the merchant account that this database belongs to. */
import type { Queryable } from '../../platform/db/database.ts';

/** Binds the database to a merchant unless it is bound. @returns the merchant that it is bound to */
export async function stampInstallation(db: Queryable, merchantId: string): Promise<string> {
  await db.query('insert into installation (merchant_id) values ($1) on conflict do nothing', [
    merchantId,
  ]);
  return (await readInstallation(db)) ?? merchantId;
}

/** @returns the merchant that the database is bound to, if any */
export async function readInstallation(db: Queryable): Promise<string | undefined> {
  const rows = await db.query<{ merchantId: string }>(
    'select merchant_id as "merchantId" from installation limit 1',
  );
  return rows[0]?.merchantId;
}

/** @returns when the database was bound, if it was */
export async function readStampedAt(db: Queryable): Promise<Date | undefined> {
  const rows = await db.query<{ stampedAt: Date }>(
    'select stamped_at as "stampedAt" from installation limit 1',
  );
  return rows[0]?.stampedAt;
}

/** The lock of the one sandbox of a database. */
import { MAY_BE_IDLE, type Queryable } from '../../../platform/db/database.ts';

/**
 * Acquires the lock of the one sandbox of this database until the transaction ends. It may be idle.
 * @returns false when another one has it
 */
export async function tryLockSandbox(tx: Queryable): Promise<boolean> {
  const rows = await tx.query<{ isLocked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tallyhook sandbox')) as "isLocked",
            ${MAY_BE_IDLE}`,
  );
  return rows[0]?.isLocked ?? false;
}

/** Throws when the transaction is lost. */
export async function probeLock(tx: Queryable): Promise<void> {
  await tx.query('select 1');
}

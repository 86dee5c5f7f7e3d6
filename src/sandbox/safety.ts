/**
 * Keeps test payments out of a real ledger. docs/decisions/0039-sandbox-never-beside-a-real-ledger.md
 *
 * 1. The sandbox serves one account, SANDBOX_MERCHANT_ID, and no other.
 * 2. It does not start in a database with the ledger of another merchant, and creates nothing there.
 * 3. A ledger of another merchant does not start in a database that a sandbox has used.
 */
import type { Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { SANDBOX_MERCHANT_ID } from './account.ts';
import { hasSandbox, readLedgerStamp } from './store/postgres/ledgerStamp.ts';

/** @throws OperatorError when the database has the ledger of another merchant (2) */
export async function refuseForeignLedger(db: Queryable): Promise<void> {
  const merchantId = await readLedgerStamp(db);
  if (merchantId === undefined || merchantId === SANDBOX_MERCHANT_ID) return;
  throw new OperatorError(
    `This database has the ledger of merchant ${merchantId}, so the sandbox does not start in it: ` +
      'its test payments would mix with real ones. Give the sandbox a database of its own: ' +
      'set DATABASE_URL to another database, or leave DATABASE_URL out to use the embedded one.',
  );
}

/** @throws OperatorError when a ledger of `merchantId` is about to use a sandbox's database (3) */
export async function refuseSandboxDatabase(db: Queryable, merchantId: string): Promise<void> {
  if (merchantId === SANDBOX_MERCHANT_ID || !(await hasSandbox(db))) return;
  throw new OperatorError(
    `A sandbox has used this database, so the ledger of merchant ${merchantId} does not start in it: ` +
      'test payments would mix with real ones. Use another database. If you are sure that ' +
      "the sandbox's data is no longer needed, run: drop schema sandbox cascade",
  );
}

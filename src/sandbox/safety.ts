/**
 * Invented money never meets real resources. docs/decisions/0039-sandbox-never-beside-a-real-ledger.md
 *
 * 1. The sandbox serves one account, SANDBOX_MERCHANT_ID, and no other.
 * 2. It refuses a database whose ledger is stamped with another merchant, before it creates anything.
 * 3. A ledger of another merchant refuses a database in which a sandbox ever lived.
 */
import type { Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { hasSandbox, readLedgerStamp } from './store/ledgerStamp.ts';

/** The account of the sandbox, and of a ledger that nobody gave one. No real account is called so. */
export const SANDBOX_MERCHANT_ID = 'merchant_local';

/** @throws OperatorError when the database keeps the resources of another merchant (2) */
export async function refuseForeignLedger(db: Queryable): Promise<void> {
  const merchantId = await readLedgerStamp(db);
  if (merchantId === undefined || merchantId === SANDBOX_MERCHANT_ID) return;
  throw new OperatorError(
    `This database keeps the resources of merchant ${merchantId}, so the sandbox does not start in it: ` +
      'its invented payments would stand beside real ones. Give the sandbox a database of its own: ' +
      'set DATABASE_URL to another one for it, or leave DATABASE_URL out to use the embedded one.',
  );
}

/** @throws OperatorError when a ledger of `merchantId` is about to use a sandbox's database (3) */
export async function refuseSandboxDatabase(db: Queryable, merchantId: string): Promise<void> {
  if (merchantId === SANDBOX_MERCHANT_ID || !(await hasSandbox(db))) return;
  throw new OperatorError(
    `A sandbox has lived in this database, so the resources of merchant ${merchantId} are not kept in it: ` +
      'invented payments would stand beside real ones. Use another database. If you are sure that ' +
      'nothing of the sandbox is needed any more, run: drop schema sandbox cascade',
  );
}

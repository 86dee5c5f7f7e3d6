/** Transactions that a test ends explicitly, to observe how others wait for their locks. */
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { waitFor } from './waitFor.ts';

export interface OpenTransaction {
  readonly tx: Queryable;
  readonly processId: number;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

class RolledBack extends Error {}

/** Begins a transaction that stays open until the test commits or rolls it back. */
export async function beginTransaction(db: Database): Promise<OpenTransaction> {
  let commit = (): void => undefined;
  let rollBack = (): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    commit = resolve;
    rollBack = () => reject(new RolledBack());
  });
  let done: Promise<void> = Promise.resolve();
  const begun = new Promise<Pick<OpenTransaction, 'tx' | 'processId'>>((resolve, reject) => {
    done = db.transaction(async (tx) => {
      const [row] = await tx.query<{ processId: number }>('select pg_backend_pid() as "processId"');
      resolve({ tx, processId: row?.processId ?? 0 });
      await ended;
    });
    done.catch(reject);
  });
  return {
    ...(await begun),
    commit: () => {
      commit();
      return done;
    },
    rollBack: () => {
      rollBack();
      return done.catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
    },
  };
}

/**
 * Runs `work` in `transaction` until it ends or waits for a lock of another transaction.
 * @returns which of the two it was, and the result, which resolves once the lock is released
 */
export async function runUntilBlocked<T>(
  db: Database,
  transaction: OpenTransaction,
  work: (tx: Queryable) => Promise<T>,
): Promise<{ readonly outcome: 'ended' | 'blocked'; readonly result: Promise<T> }> {
  let isOver = false;
  const result = work(transaction.tx).finally(() => {
    isOver = true;
  });
  // A failure is reported to the caller that awaits the result.
  result.catch(() => undefined);
  let isBlocked = false;
  await waitFor('the statement to end or to wait for a lock', async () => {
    const [row] = await db.query<{ isBlocked: boolean }>(
      'select cardinality(pg_blocking_pids($1)) > 0 as "isBlocked"',
      [transaction.processId],
    );
    isBlocked = row?.isBlocked ?? false;
    return isOver || isBlocked;
  });
  return { outcome: isOver ? 'ended' : 'blocked', result };
}

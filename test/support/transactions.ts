/** Transactions of which a test decides when they end, and how another one meets their locks. */
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { waitFor } from './waitFor.ts';

export interface OpenTransaction {
  readonly tx: Queryable;
  readonly processId: number;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

class RolledBack extends Error {}

/** Begins a transaction that stays open until the test ends it. */
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
 * Runs `work` in `transaction` until it ends or waits for a lock of somebody else.
 * @returns what it came to by then, and its result for when the lock is gone
 */
export async function runUntilBlocked<T>(
  db: Database,
  transaction: OpenTransaction,
  work: (tx: Queryable) => Promise<T>,
): Promise<{ readonly came: 'ended' | 'blocked'; readonly result: Promise<T> }> {
  let isOver = false;
  const result = work(transaction.tx).finally(() => {
    isOver = true;
  });
  // Whoever asks for the result hears of the failure.
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
  return { came: isOver ? 'ended' : 'blocked', result };
}

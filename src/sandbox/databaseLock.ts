/**
 * Allows one sandbox per database: two would send every webhook twice, and each would have a clock of
 * its own.
 *
 * 1. The lock is an advisory lock of one transaction, which is probed every second. When it is lost, the
 *    lock is acquired again as soon as the database responds. The transaction reads no rows between the
 *    probes, so it keeps no snapshot, and vacuum does not wait for it.
 * 2. A sandbox that cannot acquire the lock ends, at its start and later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../platform/db/database.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import type { SandboxLog } from './log.ts';
import { probeLock, tryLockSandbox } from './store/postgres/lock.ts';

export interface DatabaseLock {
  /** Resolves when the lock is released; rejects with an OperatorError once another sandbox has it. */
  readonly ended: Promise<void>;
  release(): Promise<void>;
}

/** How often the lock is probed, and the delay before the lock is acquired again. */
const PROBE_INTERVAL_MS = 1_000;

/** @throws OperatorError when there is another sandbox */
export async function lockDatabase(db: Database, log: SandboxLog): Promise<DatabaseLock> {
  const released = new AbortController();
  const release = async (): Promise<void> => {
    released.abort();
    await ended.catch(() => undefined);
  };
  let wasAcquired = false;
  let onAcquired = (): void => undefined;
  const acquired = new Promise<void>((resolve) => {
    onAcquired = () => {
      wasAcquired = true;
      resolve();
    };
  });
  const keep = async (): Promise<void> => {
    while (!released.signal.aborted) {
      try {
        await holdLock(db, released.signal, onAcquired);
      } catch (error) {
        if (!wasAcquired || error instanceof OperatorError) throw error;
        log.warn({ error: toError(error) }, 'sandbox.lock_lost');
        await waitForProbe(released.signal);
      }
    }
  };
  const ended = keep();
  await Promise.race([acquired, ended]);
  return { ended, release };
}

/** Acquires the lock and holds it until it is released. @throws Error when the transaction is lost */
function holdLock(db: Database, released: AbortSignal, onAcquired: () => void): Promise<void> {
  return db.transaction(async (tx) => {
    if (!(await tryLockSandbox(tx))) {
      throw new OperatorError(
        'Another sandbox uses this database, and two would send every webhook twice. ' +
          'Use that one, stop it, or give this one a database of its own.',
      );
    }
    onAcquired();
    while (!released.aborted) {
      await probeLock(tx);
      await waitForProbe(released);
    }
  });
}

async function waitForProbe(released: AbortSignal): Promise<void> {
  await sleep(PROBE_INTERVAL_MS, undefined, { signal: released }).catch(() => undefined);
}

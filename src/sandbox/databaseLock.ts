/**
 * One sandbox at a time works over a database: two would send every webhook twice, and each would
 * have a clock of its own.
 *
 * 1. Who holds the database holds a lock that lasts as long as one connection, which is looked at
 *    every second. When it is lost the lock is taken again, as soon as the database answers.
 * 2. A sandbox that finds the lock taken is over: at its start, and later, too.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../platform/db/database.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { probeSession, tryLockSandbox } from './store/account.ts';

export interface DatabaseLock {
  /** Resolves when it is given free; rejects with an OperatorError once another sandbox has it. */
  readonly ended: Promise<void>;
  release(): Promise<void>;
}

/** A connection that broke shows within this time; the lock is tried for again after as long. */
const PROBE_INTERVAL_MS = 1_000;

/** @throws OperatorError when there is another sandbox */
export async function lockDatabase(db: Database, log: Log): Promise<DatabaseLock> {
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
        await sleep(released.signal);
      }
    }
  };
  const ended = keep();
  await Promise.race([acquired, ended]);
  return { ended, release };
}

/** Takes the lock and holds it until it is released. @throws Error when the connection is lost */
function holdLock(db: Database, released: AbortSignal, onAcquired: () => void): Promise<void> {
  return db.session(async (session) => {
    if (!(await tryLockSandbox(session))) {
      throw new OperatorError(
        'Another sandbox runs over this database, and two would send every webhook twice. ' +
          'Use that one, stop it, or give this one a database of its own.',
      );
    }
    onAcquired();
    while (!released.aborted) {
      await probeSession(session);
      await sleep(released);
    }
  });
}

async function sleep(released: AbortSignal): Promise<void> {
  await delay(PROBE_INTERVAL_MS, undefined, { signal: released }).catch(() => undefined);
}

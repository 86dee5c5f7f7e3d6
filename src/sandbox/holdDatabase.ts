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

export interface HeldDatabase {
  /** Resolves when it is given free; rejects with an OperatorError once another sandbox has it. */
  readonly ended: Promise<void>;
  giveFree(): Promise<void>;
}

/** A connection that broke shows within this time; the lock is tried for again after as long. */
const LOOK_MS = 1_000;

/** @throws OperatorError when there is another sandbox */
export async function holdDatabase(db: Database, log: Log): Promise<HeldDatabase> {
  const freed = new AbortController();
  const giveFree = async (): Promise<void> => {
    freed.abort();
    await ended.catch(() => undefined);
  };
  let wasHeld = false;
  let onHeld = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    onHeld = () => {
      wasHeld = true;
      resolve();
    };
  });
  const keep = async (): Promise<void> => {
    while (!freed.signal.aborted) {
      try {
        await holdSession(db, freed.signal, onHeld);
      } catch (error) {
        if (!wasHeld || error instanceof OperatorError) throw error;
        log.warn({ error: toError(error) }, 'sandbox.lock_lost');
        await pause(freed.signal);
      }
    }
  };
  const ended = keep();
  await Promise.race([held, ended]);
  return { ended, giveFree };
}

/** Takes the lock and holds it until it is freed. @throws Error when the connection is lost */
function holdSession(db: Database, freed: AbortSignal, onHeld: () => void): Promise<void> {
  return db.session(async (session) => {
    if (!(await tryLockSandbox(session))) {
      throw new OperatorError(
        'Another sandbox runs over this database, and two would send every webhook twice. ' +
          'Use that one, stop it, or give this one a database of its own.',
      );
    }
    onHeld();
    while (!freed.aborted) {
      await probeSession(session);
      await pause(freed);
    }
  });
}

async function pause(freed: AbortSignal): Promise<void> {
  await delay(LOOK_MS, undefined, { signal: freed }).catch(() => undefined);
}

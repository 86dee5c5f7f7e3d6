/** Carries out requests for erasure for the people who made them: new ones, and those that were interrupted. */
import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/domain/actor.ts';
import { readSubject } from '../erasure/domain/subjects.ts';
import type { Erased } from '../erasure/erase.ts';
import { holdErasure } from '../erasure/holdErasure.ts';
import { claimNextErasure, type HeldErasure, readErasure } from '../erasure/store/erasures.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { erasePeople, planErasure } from './eraseData.ts';

export interface ContinueParts {
  readonly db: Database;
  readonly log: Log;
  /** The process, for the entry at the end of a request. */
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

/**
 * Carries out the requests that are due, one after another. A request that waits or fails is due again
 * after a pause. @returns how many were done
 */
export async function continueErasures(parts: ContinueParts): Promise<number> {
  const { db, log, signal } = parts;
  for (let done = 0; ; ) {
    if (signal.aborted) return done;
    const holder = randomUUID();
    const id = await claimNextErasure(db, holder);
    if (id === undefined) return done;
    const erased = await continueOne(parts, { id, holder });
    if (erased === 'stopped') return done;
    if (erased.outcome === 'erased') {
      done += 1;
      log.info({ erasure: id, places: erased.proof.places.length }, 'erasure.done');
    } else {
      log.info({ erasure: id, events: erased.pending.length }, 'erasure.waits');
    }
  }
}

async function continueOne(
  { db, actor, signal: stopping }: ContinueParts,
  held: HeldErasure,
): Promise<Erased | 'stopped'> {
  try {
    return await holdErasure({ db, signal: stopping }, held, async (signal) => {
      const request = await readErasure(db, held.id);
      const subjects = request?.subjects.map(readSubject) ?? [];
      const { people } = await planErasure({ db, signal }, subjects);
      return await erasePeople({ db, signal }, actor, { held, people });
    });
  } catch (error) {
    // A shutdown is no failure: another process continues at once.
    if (stopping.aborted) return 'stopped';
    throw error;
  }
}

/**
 * The schedule `bodies`: copies bodies of an older version, packs past days, detaches and drops their
 * partitions. Each run takes about `budgetMs`, and rests after each step (ledger/domain/rest.ts), so that
 * intake keeps at least half of the disk.
 */
import { monotonicMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { isContended } from '../../platform/db/failures.ts';
import { toError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { BUDGET_MS, turnsUntil } from '../turns.ts';
import { copyNext } from './copyBodies.ts';
import {
  detachNext,
  dropDetached,
  PACK_LIMITS,
  type PackRequest,
  packNext,
  WrongPack,
} from './packDay.ts';
import { releaseKept } from './removeBodies.ts';
import type { CopyLimits } from './store/copy.ts';
import { type Day, type PackLimits, saveDamaged } from './store/packing.ts';

export interface BodiesJobParts {
  readonly db: Database;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly times?: Partial<BodiesTimes>;
  readonly limits?: Partial<BodiesLimits>;
}

export interface BodiesTimes {
  /** How long a run goes on. */
  readonly budgetMs: number;
  /** For how long an event is left alone, and a day has ended before it is packed. */
  readonly settleMs: number;
  /** For how long a packed day keeps its open partition attached. */
  readonly restMs: number;
}

export interface BodiesLimits {
  readonly pack: PackLimits;
  readonly copy: Pick<CopyLimits, 'events' | 'bytes'>;
}

const TIMES: BodiesTimes = {
  budgetMs: BUDGET_MS,
  settleMs: 30 * MINUTE_MS,
  restMs: 60 * MINUTE_MS,
};

/** Events of a step of the copy, and their bytes. */
export const COPY_LIMITS: BodiesLimits['copy'] = { events: 2_000, bytes: 8 * 1024 * 1024 };

const LIMITS: BodiesLimits = {
  pack: PACK_LIMITS,
  copy: COPY_LIMITS,
};

const KEPT_AT_ONCE = 1_000;

/** Goes on with what is left to do. @returns whether there may be more */
type Step = () => Promise<boolean>;

/** @returns the work of one run */
export function createBodiesJob(parts: BodiesJobParts): () => Promise<void> {
  const { log, signal } = parts;
  const times = { ...TIMES, ...parts.times };
  return async () => {
    const endMs = monotonicMs() + times.budgetMs;
    for (const step of stepsOf(parts, times)) {
      for await (const _turn of turnsUntil(endMs, signal)) {
        if (!(await unlessContended(step, log))) break;
      }
    }
  };
}

/** A lock that something else holds is left to the next run. */
async function unlessContended(step: Step, log: Log): Promise<boolean> {
  try {
    return await step();
  } catch (error) {
    if (!isContended(error)) throw error;
    log.info({ error: toError(error) }, 'bodies.locked');
    return false;
  }
}

/** Drops first, because that frees space; packs last, because that takes longest. */
function stepsOf(parts: BodiesJobParts, times: BodiesTimes): readonly Step[] {
  const { db } = parts;
  const { restMs, settleMs } = times;
  const limits = { ...LIMITS, ...parts.limits };
  return [
    async () => {
      await dropDetached(db);
      return false;
    },
    async () => (await releaseKept(db, KEPT_AT_ONCE)) === KEPT_AT_ONCE,
    async () => (await detachNext(db, restMs)) !== undefined,
    async () => (await copyNext(db, { ...limits.copy, settleMs })).events > 0,
    packStep(parts, { settleMs, limits: limits.pack }),
  ];
}

/** A day that cannot be packed does not stop later ones; its damaged bodies are recorded for an alert. */
function packStep({ db, log }: BodiesJobParts, request: Omit<PackRequest, 'after'>): Step {
  let after: Day | undefined;
  return async () => {
    try {
      return (await packNext(db, { ...request, after })) !== undefined;
    } catch (error) {
      if (!(error instanceof WrongPack)) throw error;
      log.error({ error }, 'bodies.not_packed');
      await saveDamaged(db, error.day, error.ids);
      after = error.day;
      return true;
    }
  };
}

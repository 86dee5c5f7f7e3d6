/**
 * Replays many events for an operator: those of a filter, in the background.
 *
 * 1. A run covers the events that are in the inbox when it is requested, from the newest to the oldest. A
 *    dead event that dies again is not replayed twice.
 * 2. A process claims the run, records which events the next step replays, replays them, and records the
 *    position. If it ends, another one repeats that step within a minute, with the same events. A step that is
 *    made twice changes nothing: replaying is idempotent.
 * 3. The audit log has one entry, with the filter, the count and the reason. The events are in the steps.
 * 4. It waits while many events are pending, so that new events are not applied late because of it.
 * 5. A command may carry out its own run, at once. If it ends, rule 2 applies.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { measureInbox } from '../ledger/gauges.ts';
import {
  claimReplayRun,
  insertReplayRun,
  insertReplayStep,
  markReplayStopped,
  type ReplayStep,
  readReplayStep,
  recordReplayStep,
  releaseReplayRun,
} from '../ledger/inbox/store/replayRuns.ts';
import { filterOf } from '../ledger/read/eventFilter.ts';
import { countEvents, type EventCount, searchEvents } from '../ledger/read/store/events.ts';
import type { ReplayRun, StoredFilter } from '../ledger/read/store/replayRuns.ts';
import type { Database } from '../platform/db/database.ts';
import { sleep } from '../platform/sleep.ts';
import { type RefusedReplay, type Replayed, type ReplayParts, replayEach } from './replayEvents.ts';

interface Parts {
  readonly db: Database;
}

const subjectOf = (id: number) => ({ kind: 'replay', id: String(id) });

/** How many events a run would replay. */
export function planReplay({ db }: Parts, filter: StoredFilter): Promise<EventCount> {
  return countEvents(db, filterOf(filter));
}

export interface StartReplay {
  readonly filter: StoredFilter;
  /** Why they are replayed; not empty. */
  readonly reason: string;
  /** The caller carries it out. */
  readonly isClaimed?: boolean;
}

export async function startReplayAs(
  { db }: Parts,
  actor: Actor,
  { filter, reason, isClaimed = false }: StartReplay,
): Promise<ReplayRun> {
  const { count: planned, isComplete: isPlannedComplete } = await planReplay({ db }, filter);
  return db.transaction(async (tx) => {
    const requestedBy = actor.name;
    const run = await insertReplayRun(tx, {
      filter,
      reason,
      requestedBy,
      planned,
      isPlannedComplete,
      isClaimed,
    });
    const detail = { filter, planned, isPlannedComplete };
    const subject = subjectOf(run.id);
    await recordAudit(tx, { actor, action: 'replay.start', subject, reason, detail });
    return run;
  });
}

/** Stops a run after its step. Events that it replayed stay so. @returns false if it does not run */
export function stopReplayAs({ db }: Parts, actor: Actor, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await markReplayStopped(tx, id, actor.name))) return false;
    await recordAudit(tx, { actor, action: 'replay.stop', subject: subjectOf(id) });
    return true;
  });
}

export interface ReplayedDead extends Pick<Replayed, 'replayed' | 'refused'> {
  /** The number of the run; undefined if no event is dead. */
  readonly run: number | undefined;
  /** Why the queue is unavailable; undefined if everything is enqueued. */
  readonly notEnqueued: string | undefined;
  /** False: a person stopped the run, or another process took it over and continues it. */
  readonly isComplete: boolean;
}

export interface ReplayDeadParts extends ReplayParts {
  /** Called after each step with the number of events that it and earlier ones covered. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/** Replays every dead event that nobody discarded, as one run that is carried out here (rule 5). */
export async function replayDeadAs(
  parts: ReplayDeadParts,
  actor: Actor,
  reason: string,
): Promise<ReplayedDead> {
  const filter = { state: 'dead' } as const;
  const replayed: number[] = [];
  const refused: RefusedReplay[] = [];
  let notEnqueued: string | undefined;
  const result = (run: number | undefined, isComplete: boolean): ReplayedDead => {
    return { run, replayed, refused, notEnqueued, isComplete };
  };
  if ((await planReplay(parts, filter)).count === 0) return result(undefined, true);
  const started = await startReplayAs(parts, actor, { filter, reason, isClaimed: true });
  let run: ReplayRun | undefined = started;
  while (run?.state === 'running') {
    const step: MadeStep = await makeStep(parts, run);
    ({ run } = step);
    replayed.push(...step.replayed.replayed);
    refused.push(...step.replayed.refused);
    const total = started.isPlannedComplete ? started.planned : 0;
    parts.onProgress?.({ done: replayed.length + refused.length, total });
    if (step.replayed.outcome === 'left_to_sweep') notEnqueued = step.replayed.reason;
  }
  return result(started.id, run?.state === 'done');
}

export interface ContinueReplaysParts extends ReplayParts {
  readonly signal: AbortSignal;
}

/** Events of one step, and of one job. With 100, a replay was slower (docs/decisions/0093-replays-of-many-events.md). */
const STEP_EVENTS = 500;
/** With more events pending than this, a run waits. */
const BUSY_PENDING = 5_000;
/** Workers apply some hundred events meanwhile. */
const WAIT_MS = 250;
/** Shorter than the claim of a run. */
const MAX_WAIT_MS = 20_000;

/** Carries out the runs that wait, one after another. */
export async function continueReplays(parts: ContinueReplaysParts): Promise<void> {
  while (!parts.signal.aborted) {
    const run = await claimReplayRun(parts.db);
    if (!run) return;
    const isRest = await carryOut(parts, run);
    if (isRest) return;
  }
}

/** @returns true if the run has to wait */
async function carryOut(parts: ContinueReplaysParts, claimed: ReplayRun): Promise<boolean> {
  let run: ReplayRun | undefined = claimed;
  try {
    while (run?.state === 'running') {
      if (!(await untilCalm(parts))) return true;
      ({ run } = await makeStep(parts, run));
    }
    return false;
  } finally {
    // A claim that cannot be released ends by itself.
    await releaseReplayRun(parts.db, claimed.id).catch(() => undefined);
  }
}

/** Waits while many events are pending. @returns false if many still are, or the process is stopped */
async function untilCalm({ db, signal }: ContinueReplaysParts): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += WAIT_MS) {
    if (signal.aborted) return false;
    if ((await measureInbox(db)).pending <= BUSY_PENDING) return true;
    await sleep(WAIT_MS, signal);
  }
  return false;
}

interface MadeStep {
  /** Undefined: another process made the step, too. */
  readonly run: ReplayRun | undefined;
  readonly replayed: Replayed;
}

async function makeStep(parts: ReplayParts, run: ReplayRun): Promise<MadeStep> {
  const { db } = parts;
  const step = (await readReplayStep(db, run)) ?? (await chooseStep(db, run));
  const replayed = await replayEach(parts, step.numbers);
  const result = { replayed: replayed.replayed.length, refusals: replayed.refused };
  return { run: await recordReplayStep(db, run.id, step, result), replayed };
}

/** Invariant 2: what a step replays is committed before it begins. */
async function chooseStep(db: Database, { id, position, filter }: ReplayRun): Promise<ReplayStep> {
  const page = { below: position, limit: STEP_EVENTS };
  const { rows, next } = await searchEvents(db, filterOf(filter), page);
  const numbers = rows.map((row) => row.id);
  const nextPosition = next ?? numbers.at(-1) ?? position;
  return insertReplayStep(db, id, { position, nextPosition, isLast: next === undefined, numbers });
}

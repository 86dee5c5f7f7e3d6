/**
 * Until when a dispute must be answered, and when to speak of that.
 *
 * Terms. *Threshold*: so many hours before the deadline.
 *
 * 1. The deadline is the service's. Where it names none, 7 days are assumed: from the creation of the
 *    dispute, and from its last change where it went on to a later stage.
 * 2. A threshold is reached from its instant on. Of several that are reached only the one nearest the
 *    deadline is said: the others would say the same with older words.
 * 3. What opens the dispute's alert names the deadline, so thresholds reached by then count as said.
 *    Where the deadline moves afterwards, those of the new one that are reached are said at once.
 *
 * All times are milliseconds since 1970.
 */
import type { ResourceFacts } from '../facts.ts';

const HOUR_MS = 60 * 60_000;
const ASSUMED_DAYS = 7;

/** Hours before the deadline, descending. */
const THRESHOLD_HOURS: readonly number[] = [7 * 24, 72, 24];

export interface Deadline {
  readonly deadlineMs: number;
  /** The service names none. */
  readonly isAssumed: boolean;
}

/** Stages at which a dispute begins. */
const FIRST_STAGES: ReadonlySet<string> = new Set(['pre_dispute', 'dispute']);

/** Rule 1, at `nowMs`, which counts only where the service gives no time at all. */
export function evidenceDeadline(
  facts: Pick<ResourceFacts, 'stage' | 'createdMs' | 'versionMs' | 'deadlineMs'>,
  nowMs: number,
): Deadline {
  const { stage, createdMs, versionMs, deadlineMs } = facts;
  if (deadlineMs !== undefined) return { deadlineMs, isAssumed: false };
  const startMs = isFirstStage(stage) ? (createdMs ?? versionMs) : (versionMs ?? createdMs);
  return { deadlineMs: (startMs ?? nowMs) + ASSUMED_DAYS * 24 * HOUR_MS, isAssumed: true };
}

export function isFirstStage(stage: string | undefined): boolean {
  return stage === undefined || FIRST_STAGES.has(stage);
}

/** The next threshold at `nowMs`; undefined when all are reached. */
export function nextThresholdMs(deadlineMs: number, nowMs: number): number | undefined {
  return THRESHOLD_HOURS.map((hours) => deadlineMs - hours * HOUR_MS).find((ms) => ms > nowMs);
}

/** The hours of the threshold that was reached last (rule 2); undefined before the first. */
export function reachedThreshold(deadlineMs: number, nowMs: number): number | undefined {
  return THRESHOLD_HOURS.findLast((hours) => deadlineMs - hours * HOUR_MS <= nowMs);
}

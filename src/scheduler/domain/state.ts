/** What is known of a schedule, for people. */
import { MINUTE_MS } from '../../platform/time.ts';
import type { PlannedSchedule } from './timetable.ts';

/** The latest run of a schedule, of a slot or of a request. */
export interface SlotRun {
  readonly schedule: string;
  /** The slot, or when the run was requested. */
  readonly at: Date;
  /** Null for a run of an earlier version. */
  readonly claimedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly error: string | null;
  /** Whether its process renews the lease. */
  readonly isHeld: boolean;
}

/** A request to run a schedule at once, which no scheduler has served yet. */
export interface ScheduleRequest {
  readonly schedule: string;
  readonly requestedAt: Date;
  readonly requestedBy: string;
  readonly reason: string;
}

/**
 * `interrupted`: its process ended, and another one takes over. `unrecorded`: each scheduler runs it, and
 * nobody records when.
 */
export const RUN_RESULTS = [
  'running',
  'done',
  'failed',
  'interrupted',
  'never',
  'unrecorded',
] as const;
export type RunResult = (typeof RUN_RESULTS)[number];

export interface ScheduleState extends PlannedSchedule {
  readonly run: SlotRun | undefined;
  readonly result: RunResult;
  /** Of a finished run. */
  readonly durationMs: number | undefined;
  readonly nextAt: Date | undefined;
  /** A slot has been due for longer than a scheduler takes to catch up. */
  readonly isOverdue: boolean;
  readonly request: ScheduleRequest | undefined;
}

/** Longer than a lease and catching up after it. */
const OVERDUE_AFTER_MS = 2 * MINUTE_MS;

export interface Known {
  readonly nowMs: number;
  readonly lastSlotMs: number | undefined;
  readonly nextSlotMs: number | undefined;
  readonly run: SlotRun | undefined;
  readonly request: ScheduleRequest | undefined;
}

export function stateOf(planned: PlannedSchedule, known: Known): ScheduleState {
  const { run, request, nextSlotMs } = known;
  const isFinished = run?.claimedAt && run.finishedAt;
  return {
    ...planned,
    run,
    request,
    result: resultOf(planned, run),
    durationMs: isFinished ? run.finishedAt.getTime() - run.claimedAt.getTime() : undefined,
    nextAt: nextSlotMs === undefined ? undefined : new Date(nextSlotMs),
    isOverdue: planned.runs === 'once' && isOverdue(known),
  };
}

function resultOf({ runs }: PlannedSchedule, run: SlotRun | undefined): RunResult {
  if (runs === 'everywhere') return 'unrecorded';
  if (run === undefined) return 'never';
  if (run.finishedAt === null) return run.isHeld ? 'running' : 'interrupted';
  return run.error === null ? 'done' : 'failed';
}

function isOverdue({ nowMs, lastSlotMs, run }: Known): boolean {
  if (lastSlotMs === undefined || nowMs - lastSlotMs <= OVERDUE_AFTER_MS) return false;
  if (run === undefined || run.at.getTime() < lastSlotMs) return !run?.isHeld;
  return run.finishedAt === null && !run.isHeld;
}

/**
 * The queue `reconcile`: one job for each slot of a schedule. A job that is tried again goes on from
 * the checkpoint of the run it began, and leaves alone what is done; one that is lost is made up by the
 * next slot. Runs that a pause held are gone on with at the first slot after it, whatever their own
 * schedule.
 */

import type { NewJob, Producer, RunningJob } from '../platform/queue/index.ts';
import { SECOND_MS } from '../platform/time.ts';
import { nightSpan, sliceSpan, weekSpan } from './domain/spans.ts';
import type { Span } from './domain/windows.ts';
import { RunInterrupted } from './interruptions.ts';
import type { Reconcile, RunReport } from './run.ts';
import type { Mode, RunRow } from './store/runs.ts';
import { STREAMS, type Stream } from './streams.ts';

export const RECONCILE_QUEUE = 'reconcile';

export const ERRANDS = ['tail', 'night', 'week'] as const;
export type Errand = (typeof ERRANDS)[number];

export interface ReconcileJob {
  readonly errand: Errand;
  readonly slotMs: number;
}

const ATTEMPTS = 5;
const BACKOFF_MS = 30 * SECOND_MS;
/** The next tail covers what one leaves out; more that wait would only be run after each other. */
const MAX_WAITING = 10;

/**
 * Adds the job of a slot, once, whoever else adds it.
 * @returns whether it did: behind so many jobs there is no room for another tail
 */
export async function enqueueErrand(
  producer: Producer<ReconcileJob>,
  errand: Errand,
  slotMs: number,
): Promise<boolean> {
  if (errand === 'tail' && (await producer.countWaiting()) >= MAX_WAITING) return false;
  const job: NewJob<ReconcileJob> = {
    name: errand,
    id: `${errand}.${slotMs}`,
    data: { errand, slotMs },
    // The next tail comes sooner than another try would.
    attempts: errand === 'tail' ? 1 : ATTEMPTS,
    backoffMs: BACKOFF_MS,
  };
  await producer.add([job]);
  return true;
}

interface Part {
  readonly mode: Mode;
  readonly cause: string;
  readonly span: Span | undefined;
}

/** One run of a job. */
interface StreamPart extends Part {
  readonly stream: Stream;
}

function partsOf(errand: Errand, slotMs: number): readonly Part[] {
  switch (errand) {
    case 'tail':
      return [{ mode: 'full', cause: 'tail', span: undefined }];
    case 'night':
      return [{ mode: 'full', cause: 'night', span: nightSpan(slotMs) }];
    case 'week':
      return [
        { mode: 'totals', cause: 'week', span: weekSpan(slotMs) },
        { mode: 'full', cause: 'slice', span: sliceSpan(slotMs) },
      ];
  }
}

export interface ReconcileHandlerParts {
  readonly reconcile: Reconcile;
  /** Asked before each run; a paused job is done, and the next slot comes to what it left. */
  readonly isPaused: () => Promise<boolean>;
  readonly readPausedRuns: () => Promise<readonly RunRow[]>;
  readonly signal: AbortSignal;
}

/**
 * What a worker of the queue does with a job.
 * @throws Error when the service could not be asked, so that the job is tried again
 */
export function createReconcileHandler({
  reconcile,
  isPaused,
  readPausedRuns,
  signal,
}: ReconcileHandlerParts): (job: RunningJob<ReconcileJob>) => Promise<void> {
  return async ({ data: { errand, slotMs } }) => {
    const failures: string[] = [];
    // Runs that a pause held come first: what they began is older than what is due now.
    const held = (await readPausedRuns()).map(heldPart);
    const due = partsOf(errand, slotMs).flatMap((part) =>
      STREAMS.map((stream): StreamPart => ({ ...part, stream })),
    );
    // A list that cannot be read must not keep the others from being read.
    for (const { stream, mode, cause, span } of [...held, ...due]) {
      if (await isPaused()) return;
      const request = { stream, mode, cause, isDryRun: false, lane: 'discovery' as const };
      const failure = await reconcile({ ...request, ...span }, { signal }).then(
        failureOf,
        (error) => {
          if (!(error instanceof RunInterrupted)) throw error;
          return error.message;
        },
      );
      if (failure !== undefined) failures.push(failure);
    }
    if (failures.length > 0) throw new Error([...new Set(failures)].join('; '));
  };
}

function heldPart({ stream, mode, cause, fromAt, toAt }: RunRow): StreamPart {
  return { stream, mode, cause, span: { fromMs: fromAt.getTime(), toMs: toAt.getTime() } };
}

function failureOf({ state, failure }: RunReport): string | undefined {
  return state === 'failed' ? (failure ?? 'the run did not come to its end') : undefined;
}

/**
 * The queue `reconcile`: one job for each slot of a schedule. A job that is tried again goes on from
 * the checkpoint of the run it began; one that is lost is made up by the next slot.
 */
import type { NewJob, Producer, RunningJob } from '../platform/queue/index.ts';
import { nightSpan, sliceSpan, weekSpan } from './domain/spans.ts';
import type { Span } from './domain/windows.ts';
import type { Reconcile, RunReport } from './run.ts';
import { ServiceTrouble } from './serviceTrouble.ts';
import type { Mode } from './store/runs.ts';
import { STREAMS } from './streams.ts';

export const RECONCILE_QUEUE = 'reconcile';

export const ERRANDS = ['tail', 'night', 'week'] as const;
export type Errand = (typeof ERRANDS)[number];

export interface ReconcileJob {
  readonly errand: Errand;
  readonly slotMs: number;
}

const ATTEMPTS = 5;
const BACKOFF_MS = 30_000;
/** Slots that wait already say enough; more would only be run after each other. */
const MAX_WAITING = 10;

/** Adds the job of a slot, once, whoever else adds it. */
export async function enqueueErrand(
  producer: Producer<ReconcileJob>,
  errand: Errand,
  slotMs: number,
): Promise<void> {
  if ((await producer.countWaiting()) >= MAX_WAITING) return;
  const job: NewJob<ReconcileJob> = {
    name: errand,
    id: `${errand}.${slotMs}`,
    data: { errand, slotMs },
    // The next tail comes sooner than another try would.
    attempts: errand === 'tail' ? 1 : ATTEMPTS,
    backoffMs: BACKOFF_MS,
  };
  await producer.add([job]);
}

interface Part {
  readonly mode: Mode;
  readonly cause: string;
  readonly span: Span | undefined;
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
  readonly signal: AbortSignal;
}

/**
 * What a worker of the queue does with a job.
 * @throws Error when the service could not be asked, so that the job is tried again
 */
export function createReconcileHandler({
  reconcile,
  isPaused,
  signal,
}: ReconcileHandlerParts): (job: RunningJob<ReconcileJob>) => Promise<void> {
  return async ({ data: { errand, slotMs } }) => {
    const failures: string[] = [];
    for (const { mode, cause, span } of partsOf(errand, slotMs)) {
      // A list that cannot be read must not keep the others from being read.
      for (const stream of STREAMS) {
        if (await isPaused()) return;
        const request = { stream, mode, cause, isDryRun: false, lane: 'discovery' as const };
        const failure = await reconcile({ ...request, ...span }, { signal }).then(
          failureOf,
          (error) => {
            if (!(error instanceof ServiceTrouble)) throw error;
            return error.message;
          },
        );
        if (failure !== undefined) failures.push(failure);
      }
    }
    if (failures.length > 0) throw new Error([...new Set(failures)].join('; '));
  };
}

function failureOf({ state, failure }: RunReport): string | undefined {
  return state === 'failed' ? (failure ?? 'the run did not come to its end') : undefined;
}

/**
 * The queue `reconcile`: one job for each slot of a schedule. A retried job resumes at the checkpoint of
 * the run that it began, and skips runs that are done; the next slot covers a job that is lost. Paused
 * runs resume at the first slot after the pause, on any schedule.
 */

import type { NewJob, Producer, RunningJob } from '../platform/queue/index.ts';
import { QUEUES } from '../platform/queue/names.ts';
import { SECOND_MS } from '../platform/time.ts';
import { nightSpan, sliceSpan, weekSpan } from './domain/spans.ts';
import type { Span } from './domain/windows.ts';
import { RunInterrupted } from './interruptions.ts';
import type { Reconcile, RunReport } from './run.ts';
import type { Mode, RunRow } from './store/runs.ts';
import { STREAMS, type Stream } from './streams.ts';

export const RECONCILE_QUEUE = QUEUES.reconcile;

export const RECONCILE_JOB_NAMES = ['tail', 'night', 'week', 'loss'] as const;
export type ReconcileJobName = (typeof RECONCILE_JOB_NAMES)[number];

/** The slot of a schedule. */
interface SlotJob {
  readonly name: ReconcileJobName;
  readonly slotMs: number;
}

/** What a person wants compared. Without bounds, the span is that of the next tail. */
export interface OperatorRequest {
  readonly streams: readonly Stream[];
  readonly mode: Mode;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly isDryRun: boolean;
}

interface OperatorJob {
  readonly name: 'operator';
  readonly request: OperatorRequest;
}

export type ReconcileJob = SlotJob | OperatorJob;

const ATTEMPTS = 5;
const BACKOFF_MS = 30 * SECOND_MS;
/** The next tail covers what one leaves out; more waiting jobs would only run one after another. */
const MAX_WAITING = 10;

/**
 * Enqueues the job of a slot. A second one for the same slot is the same job.
 * @returns false when too many jobs wait for another tail
 */
export async function enqueueReconcile(
  producer: Producer<ReconcileJob>,
  name: ReconcileJobName,
  slotMs: number,
): Promise<boolean> {
  if (name === 'tail' && (await producer.countJobs()).waiting >= MAX_WAITING) return false;
  const job: NewJob<ReconcileJob> = {
    name,
    id: `${name}.${slotMs}`,
    data: { name, slotMs },
    // The next tail comes sooner than a retry would.
    attempts: name === 'tail' ? 1 : ATTEMPTS,
    backoffMs: BACKOFF_MS,
  };
  await producer.add([job]);
  return true;
}

/**
 * Enqueues runs for a person. They run even while reconciliation is paused, like those of the command.
 * @param attempt number of the attempt in the audit log: each is a job of its own
 */
export async function enqueueOperatorRuns(
  producer: Pick<Producer<ReconcileJob>, 'add'>,
  request: OperatorRequest,
  attempt: number,
): Promise<void> {
  const job: NewJob<ReconcileJob> = {
    name: 'operator',
    id: `operator.${attempt}`,
    data: { name: 'operator', request },
    attempts: 1,
    backoffMs: BACKOFF_MS,
  };
  await producer.add([job]);
}

interface Part {
  readonly mode: Mode;
  readonly cause: string;
  readonly span: Partial<Span> | undefined;
  readonly isDryRun?: boolean;
}

/** One run of a job. */
interface StreamPart extends Part {
  readonly stream: Stream;
}

function partsOf(name: ReconcileJobName, slotMs: number): readonly Part[] {
  switch (name) {
    case 'tail':
      return [{ mode: 'full', cause: 'tail', span: undefined }];
    case 'night':
      return [{ mode: 'full', cause: 'night', span: nightSpan(slotMs) }];
    case 'loss':
      // The tail has what was created in the last minutes, up to the loss and after it.
      return [
        { mode: 'full', cause: 'loss', span: nightSpan(slotMs) },
        { mode: 'full', cause: 'tail', span: undefined },
      ];
    case 'week':
      return [
        { mode: 'totals', cause: 'week', span: weekSpan(slotMs) },
        { mode: 'full', cause: 'slice', span: sliceSpan(slotMs) },
      ];
  }
}

export interface ReconcileHandlerParts {
  readonly reconcile: Reconcile;
  /** Checked before each run. A paused job ends, and the next slot covers what it left. */
  readonly isPaused: () => Promise<boolean>;
  readonly readPausedRuns: () => Promise<readonly RunRow[]>;
  readonly signal: AbortSignal;
}

/**
 * Handles a job of the queue.
 * @throws Error when a list could not be compared, so that the job is retried
 */
export function createReconcileHandler({
  reconcile,
  isPaused,
  readPausedRuns,
  signal,
}: ReconcileHandlerParts): (job: RunningJob<ReconcileJob>) => Promise<void> {
  /** Paused runs come first: they are older than what is due now. */
  const slotParts = async ({ name, slotMs }: SlotJob): Promise<readonly StreamPart[]> => {
    const paused = (await readPausedRuns()).map(pausedPart);
    const due = partsOf(name, slotMs).flatMap((part) =>
      STREAMS.map((stream): StreamPart => ({ ...part, stream })),
    );
    return [...paused, ...due];
  };
  const isHeld = async (cause: string) => cause !== OPERATOR && (await isPaused());
  return async ({ data }) => {
    const failures: string[] = [];
    const parts = data.name === 'operator' ? operatorParts(data.request) : await slotParts(data);
    // A list that cannot be read must not stop the others from being read.
    for (const { stream, mode, cause, span, isDryRun = false } of parts) {
      if (await isHeld(cause)) return;
      const request = { stream, mode, cause, isDryRun, lane: 'discovery' as const };
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

const OPERATOR = 'operator';

function operatorParts(request: OperatorRequest): readonly StreamPart[] {
  const { streams, mode, fromMs, toMs, isDryRun } = request;
  const span = { ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }) };
  return streams.map((stream) => ({ stream, mode, cause: OPERATOR, span, isDryRun }));
}

function pausedPart({ stream, mode, cause, fromAt, toAt }: RunRow): StreamPart {
  return { stream, mode, cause, span: { fromMs: fromAt.getTime(), toMs: toAt.getTime() } };
}

function failureOf({ state, failure }: RunReport): string | undefined {
  return state === 'failed' ? (failure ?? 'the run did not complete') : undefined;
}

/**
 * Each queue beside what the database knows of its work, for the console, the admin API and the command
 * line. The queue is a hint: what is due is in the database, and lost jobs are enqueued again from it.
 */
import { measureFlow, measureInbox } from '../../ledger/gauges.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { toError } from '../../platform/errors.ts';
import type {
  FailedJob,
  InspectedQueue,
  QueueBackend,
  QueueDepth,
  QueueProblem,
} from '../../platform/queue/index.ts';
import type { QUEUES } from '../../platform/queue/names.ts';

export type WorkQueue = Exclude<keyof typeof QUEUES, 'probe'>;

/** What is known of the queues of an installation. */
export interface QueueAccess {
  readonly backend: QueueBackend['name'];
  /** Adds, claims and finishes a job. @returns why that failed */
  readonly check: () => Promise<QueueProblem | undefined>;
  readonly queues: Readonly<Record<WorkQueue, InspectedQueue>>;
}

/** What waits in the database for the jobs of a queue. */
export interface DueWork {
  readonly due: number;
  readonly oldestAgeSeconds: number;
}

export interface QueueState {
  readonly name: WorkQueue;
  readonly does: string;
  /** Undefined if the queue cannot be read; `error` has the reason. */
  readonly depth: QueueDepth | undefined;
  readonly oldestWaitingSeconds: number | undefined;
  readonly failed: readonly FailedJob[];
  readonly error: string | undefined;
  /** Undefined where the database has no list of what is due. */
  readonly inDatabase: DueWork | undefined;
}

export interface QueuesReport {
  readonly backend: QueueBackend['name'];
  readonly problem: QueueProblem | undefined;
  readonly eventsLastMinute: number;
  readonly queues: readonly QueueState[];
}

const DOES: Readonly<Record<WorkQueue, string>> = {
  events: 'applies events to the ledger; a job carries the numbers of up to some hundred events',
  reconcile: 'compares lists with the service; a job is a slot of a schedule, or a run of a person',
};

/** The newest of them; a queue keeps failed jobs for a week, 1,000 at most. */
const SHOWN_FAILED = 10;

export async function readQueues(
  { backend, check, queues }: QueueAccess,
  { db, clock }: { readonly db: Queryable; readonly clock: Clock },
): Promise<QueuesReport> {
  const [problem, inbox, flow] = await Promise.all([check(), measureInbox(db), measureFlow(db)]);
  const inDatabase: Readonly<Record<WorkQueue, DueWork | undefined>> = {
    events: { due: inbox.pending, oldestAgeSeconds: inbox.oldestAgeSeconds },
    reconcile: undefined,
  };
  const names: readonly WorkQueue[] = ['events', 'reconcile'];
  const states = await Promise.all(
    names.map(async (name) => ({
      name,
      does: DOES[name],
      inDatabase: inDatabase[name],
      ...(await inspect(queues[name], clock.nowMs())),
    })),
  );
  return { backend, problem, eventsLastMinute: flow.lastMinute, queues: states };
}

async function inspect(
  queue: InspectedQueue,
  nowMs: number,
): Promise<Pick<QueueState, 'depth' | 'oldestWaitingSeconds' | 'failed' | 'error'>> {
  try {
    const depth = await queue.depth();
    const failed = depth.jobs.failed === 0 ? [] : await queue.failed(SHOWN_FAILED);
    const { oldestWaitingMs } = depth;
    const oldestWaitingSeconds =
      oldestWaitingMs === undefined ? undefined : Math.max(0, (nowMs - oldestWaitingMs) / 1000);
    return { depth, oldestWaitingSeconds, failed, error: undefined };
  } catch (error) {
    const { message } = toError(error);
    return { depth: undefined, oldestWaitingSeconds: undefined, failed: [], error: message };
  }
}

/**
 * Watches the queue of a process: whether a job can be added, claimed and finished.
 *
 * 1. It checks every few seconds, and on request; one check runs at a time, and one that succeeded serves
 *    every request within `FRESH_FOR_SECONDS`. A request that cannot wait for it gets the result of the last one.
 * 2. A problem is logged when it begins, every five minutes while it lasts, and at most once a minute
 *    when its kind changes, which is known by its remedy.
 */
import { startStopwatch } from '../clock.ts';
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { atMost, sleep } from '../sleep.ts';
import type { Source } from '../sources.ts';
import type { QueueProblem } from './problem.ts';
import type { QueueBackend } from './queue.ts';

export interface QueueWatchParts {
  readonly queues: Pick<QueueBackend, 'check'>;
  readonly log: Log;
  /** Receives the result of each periodic check. A failure is ignored until the next one. */
  readonly report: (problem: QueueProblem | undefined) => Promise<void>;
  readonly checkEveryMs?: number;
}

export interface QueueWatch {
  /** @returns why the queue refuses work; undefined if it works */
  check(): Promise<QueueProblem | undefined>;
  /** As `check`, but the result of the check before, if there was one, where this one takes longer than `limitMs`. */
  checkWithin(limitMs: number): Promise<QueueProblem | undefined>;
  /** The result of the last check; undefined also before the first one has ended. */
  latest(): QueueProblem | undefined;
  /** The gauge of the last check. */
  readonly source: Source;
  /** Stops watching. Does not wait for a check in progress. */
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 10_000;
const FRESH_FOR_SECONDS = 2;
const REPEAT_SECONDS = 5 * 60;
const CHANGE_SECONDS = 60;

export function watchQueue(parts: QueueWatchParts): QueueWatch {
  const { queues, report, checkEveryMs = CHECK_EVERY_MS } = parts;
  const note = createProblemLog(parts.log);
  const closing = new AbortController();
  let inProgress: Promise<QueueProblem | undefined> | undefined;
  let last: { readonly problem: QueueProblem | undefined; readonly age: () => number } | undefined;

  const run = async (): Promise<QueueProblem | undefined> => {
    const problem = await queues.check();
    last = { problem, age: startStopwatch() };
    if (!closing.signal.aborted) note(problem);
    return problem;
  };
  const check = (): Promise<QueueProblem | undefined> => {
    const isFresh = last !== undefined && !last.problem && last.age() < FRESH_FOR_SECONDS;
    if (isFresh && inProgress === undefined) return Promise.resolve(undefined);
    inProgress ??= run().finally(() => {
      inProgress = undefined;
    });
    return inProgress;
  };
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const problem = await check();
      if (!closing.signal.aborted) await report(problem).catch(() => undefined);
      await sleep(checkEveryMs, closing.signal);
    }
  };
  const looping = loop();
  return {
    check,
    checkWithin: async (limitMs) => {
      if (last === undefined) return await check();
      await atMost(limitMs, check());
      return last.problem;
    },
    latest: () => last?.problem,
    source: {
      name: 'queue_check',
      gauges: {
        tallyhook_queue_usable: {
          help: 'Whether this process can add, claim and finish a job: 1 or 0',
        },
      },
      read: async () => {
        const problem = last ? last.problem : await check();
        return [{ gauge: 'tallyhook_queue_usable', value: problem ? 0 : 1 }];
      },
    },
    close: async () => {
      closing.abort();
      if (inProgress === undefined) await looping;
    },
  };
}

/** Rule 2. */
function createProblemLog(log: Log): (problem: QueueProblem | undefined) => void {
  let logged: { readonly remedy: string; readonly age: () => number } | undefined;
  return (problem) => {
    if (problem === undefined) {
      if (logged) log.info('queue.usable');
      logged = undefined;
      return;
    }
    const { reason, remedy, unavailable } = problem;
    const wait = logged?.remedy === remedy ? REPEAT_SECONDS : CHANGE_SECONDS;
    if (logged && logged.age() < wait) return;
    logged = { remedy, age: startStopwatch() };
    // With the error of an unreachable server, the line counts as one of its outage (outageLines.ts).
    const facts = unavailable === undefined ? {} : { error: toError(unavailable) };
    log.error({ ...facts, reason, remedy }, 'queue.unusable');
  };
}

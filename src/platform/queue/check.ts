/** One check of a queue: its settings, then a job from beginning to end. */
import { isDatabaseUnavailable } from '../db/failures.ts';
import { sleep } from '../sleep.ts';
import type { QueueConnections } from './connections.ts';
import type { QueueProbe } from './probe.ts';
import type { QueueProblem } from './problem.ts';

const TIMEOUT_MS = 10_000;

/** @returns why the queue refuses work; undefined if it works */
export async function checkQueue(
  connections: QueueConnections,
  probe: QueueProbe,
): Promise<QueueProblem | undefined> {
  const done = new AbortController();
  const timeout = sleep(TIMEOUT_MS, done.signal).then(() => TIMED_OUT);
  try {
    return await Promise.race([examine(connections, probe), timeout]);
  } finally {
    done.abort();
  }
}

const TIMED_OUT: QueueProblem = {
  reason: `a job was not added, claimed and finished within ${TIMEOUT_MS / 1_000} s`,
  remedy: 'Check the load of the server that holds the queue, and the network.',
};

async function examine(
  connections: QueueConnections,
  probe: QueueProbe,
): Promise<QueueProblem | undefined> {
  try {
    await connections.probe();
    const problem = await connections.examine();
    if (problem) return problem;
    await probe.run();
    return undefined;
  } catch (error) {
    const problem = connections.problemOf(error);
    return isDatabaseUnavailable(error) ? { ...problem, unavailable: error } : problem;
  }
}

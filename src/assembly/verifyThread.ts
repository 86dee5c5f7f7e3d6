/** A thread of `tallyhook verify`: checks the ranges that it is sent, on a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { checkRange, type RangeTask } from '../ledger/verify/checkRange.ts';
import { createDatabase } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import type { ThreadReply, ThreadSettings } from './verifyThreads.ts';

const { connectionString } = workerData as ThreadSettings;
const db = createDatabase({
  connectionString,
  // Standard output is for the result of the command.
  log: createLog('error', 'stderr'),
  applicationName: 'tallyhook-verify',
  maxConnections: 1,
  responseTimeoutMs: 60_000,
  plans: 'any',
});

async function replyTo(task: RangeTask): Promise<ThreadReply> {
  try {
    return { checks: await checkRange(db, task) };
  } catch (thrown) {
    const error = toError(thrown);
    // The code of an error is lost when it is sent as an error.
    return { failure: { message: error.message, code: 'code' in error ? error.code : undefined } };
  }
}

parentPort?.on('message', (task: RangeTask) => {
  void replyTo(task).then((reply) => parentPort?.postMessage(reply));
});

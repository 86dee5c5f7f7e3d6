/** Starts the threads of `tallyhook verify`. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CheckCount } from '../ledger/domain/checks.ts';
import type { Checker } from '../ledger/verify/proveLedger.ts';
import { packageRoot } from '../platform/packageRoot.ts';

export interface ThreadSettings {
  readonly connectionString: string;
}

export type ThreadReply =
  | { readonly checks: readonly CheckCount[] }
  | { readonly failure: { readonly message: string; readonly code: unknown } };

export interface Threads {
  readonly checkers: readonly Checker[];
  close(): Promise<void>;
}

/** Node.js loads no TypeScript in a thread, so threads run the built file, also under test. */
const FILE = join(packageRoot(), 'dist/program/verifyThread.js');

export function startThreads(count: number, settings: ThreadSettings): Threads {
  const threads = Array.from({ length: count }, () => new Worker(FILE, { workerData: settings }));
  return {
    checkers: threads.map(checkerOf),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

function checkerOf(thread: Worker): Checker {
  return async (task) => {
    thread.postMessage(task);
    const [reply] = (await once(thread, 'message')) as [ThreadReply];
    if ('checks' in reply) return reply.checks;
    const { message, code } = reply.failure;
    throw Object.assign(new Error(message), { code });
  };
}

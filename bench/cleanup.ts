/**
 * What must be undone however the bench ends: processes, the database server, the temporary folder.
 * Undone once, in reverse order, on return, on failure and on a signal.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface Cleanup {
  add(step: () => Promise<void> | void): void;
  run(): Promise<void>;
}

/** A step that hangs, as the end of a pool with a transaction in it, must not keep a server alive. */
const STEP_TIMEOUT_MS = 60_000;

export function createCleanup(): Cleanup {
  const steps: (() => Promise<void> | void)[] = [];
  let running: Promise<void> | undefined;
  const undo = async (): Promise<void> => {
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await inTime(step);
      } catch (error) {
        console.error('cleaning up:', error);
      }
    }
  };
  return {
    add: (step) => steps.push(step),
    run: () => {
      running ??= undo().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

async function inTime(step: () => Promise<void> | void): Promise<void> {
  const ended = new AbortController();
  const late = pause(STEP_TIMEOUT_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`a step took longer than ${STEP_TIMEOUT_MS / 1000} s`);
  });
  try {
    await Promise.race([step(), late]);
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
}

/** Cleans up and exits on a signal, or after `deadlineMs`, so that no run lasts for ever. */
export function cleanUpOnSignal(cleanup: Cleanup, deadlineMs: number): void {
  const end = (why: string, exitCode: number): void => {
    console.error(`\nbench: ${why}, stopping`);
    void cleanup.run().finally(() => process.exit(exitCode));
  };
  process.once('SIGINT', () => end('interrupted', 130));
  process.once('SIGTERM', () => end('terminated', 143));
  setTimeout(() => end('took too long', 1), deadlineMs).unref();
}

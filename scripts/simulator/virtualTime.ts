/**
 * Lets the program wait in virtual time: the timers and the monotonic clock of this Node.js process are
 * replaced while a life runs. The program's own modules stay as they are.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Scheduler } from './scheduler.ts';

const timersPromises = createRequire(import.meta.url)('node:timers/promises') as {
  setTimeout: unknown;
};

/** Replaces timers and clock. @returns what puts them back */
export function installVirtualTime(scheduler: Scheduler): () => void {
  const real = {
    setTimeout: timersPromises.setTimeout,
    setImmediate: globalThis.setImmediate,
    now: performance.now,
  };
  const startMs = scheduler.nowMs();
  timersPromises.setTimeout = createSleep(scheduler);
  syncBuiltinESMExports();
  globalThis.setImmediate = ((run: () => void) =>
    void scheduler.inActor(scheduler.current(), 0, run)) as unknown as typeof setImmediate;
  performance.now = () => scheduler.nowMs() - startMs;
  return () => {
    timersPromises.setTimeout = real.setTimeout;
    syncBuiltinESMExports();
    globalThis.setImmediate = real.setImmediate;
    performance.now = real.now;
  };
}

function createSleep(scheduler: Scheduler) {
  return (
    delayMs: number,
    value?: unknown,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new DOMException('The operation was aborted', 'AbortError'));
      if (signal?.aborted) return abort();
      const cancel = scheduler.inActor(scheduler.current(), delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve(value);
      });
      const onAbort = () => {
        cancel();
        abort();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
}

/** Process-wide ends: signals, and errors that nobody caught. */
import { OperatorError, toError } from './errors.ts';
import type { Log } from './log.ts';

const CLOSE_DEADLINE_MS = 25_000;

/**
 * Runs until a signal asks to stop, then closes. A second signal, or a close that takes too long,
 * ends the process at once; nothing acknowledged is lost by that.
 */
export async function runUntilSignal(close: () => Promise<void>, log: Log): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve);
  });
  log.info({ signal }, 'process.stopping');
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  const deadline = setTimeout(() => {
    log.error({ afterMs: CLOSE_DEADLINE_MS }, 'process.close_took_too_long');
    process.exit(1);
  }, CLOSE_DEADLINE_MS);
  deadline.unref();
  await close();
  clearTimeout(deadline);
  log.info('process.stopped');
}

/** Prints why the program cannot go on, without a stack where the message says all, and exits. */
export function exitWith(thrown: unknown): never {
  const error = toError(thrown);
  const text = error instanceof OperatorError ? error.message : (error.stack ?? error.message);
  process.stderr.write(`tallyhook: ${text}\n`);
  process.exit(1);
}

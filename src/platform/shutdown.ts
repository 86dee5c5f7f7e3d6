/** Process-wide ends: signals, and errors that nobody caught. */
import { OperatorError, toError } from './errors.ts';
import type { Log } from './log.ts';

const CLOSE_DEADLINE_MS = 25_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What was started: how to end it, and a promise if it may end by itself, well or not. */
export interface Stoppable {
  close(): Promise<void>;
  readonly ended?: Promise<void>;
}

/**
 * Starts, runs until a signal asks to stop or it ends by itself, then closes. A second signal, or a close that takes too
 * long, ends the process at once; nothing acknowledged is lost by that. The signals are listened to
 * before `start`: one that comes the moment the program says that it runs must not find nobody.
 */
export async function runUntilSignal(start: () => Promise<Stoppable>, log: Log): Promise<void> {
  const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of STOP_SIGNALS) process.once(name, resolve);
  });
  const running = await start();
  let failure: Error | undefined;
  const ended = running.ended?.then(
    () => 'ended' as const,
    (error: unknown) => {
      failure = toError(error);
      return 'failed' as const;
    },
  );
  const reason = await Promise.race(ended === undefined ? [stopAsked] : [stopAsked, ended]);
  if (failure) log.error({ error: failure }, 'process.failed');
  log.info({ reason }, 'process.stopping');
  for (const name of STOP_SIGNALS) process.once(name, () => process.exit(1));
  const deadline = setTimeout(() => {
    log.error({ afterMs: CLOSE_DEADLINE_MS }, 'process.close_took_too_long');
    if (failure) exitWith(failure);
    process.exit(1);
  }, CLOSE_DEADLINE_MS);
  deadline.unref();
  await running.close();
  clearTimeout(deadline);
  log.info('process.stopped');
  if (reason === 'failed' && failure) throw failure;
}

/** Prints why the program cannot go on, without a stack where the message says all, and exits. */
export function exitWith(thrown: unknown): never {
  const error = toError(thrown);
  const text = error instanceof OperatorError ? error.message : (error.stack ?? error.message);
  process.stderr.write(`tallyhook: ${text}\n`);
  process.exit(1);
}

/** How a process ends: by a signal or by an uncaught error. */
import { OperatorError, toError } from './errors.ts';
import type { Log } from './log.ts';
import { printableLines } from './printable.ts';

const CLOSE_DEADLINE_MS = 25_000;

/** At Ctrl-C, `npm start` sends the signal once more to a process that has it from the terminal. */
const SAME_SIGNAL_MS = 2_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A started program, and a promise if it can end by itself, with or without an error. */
export interface Stoppable {
  /** Goes on serving until its clients can have noticed that it stops. */
  drain?(): Promise<void>;
  close(): Promise<void>;
  readonly ended?: Promise<void>;
}

/**
 * Starts the program, runs until a stop signal arrives or the program ends by itself, then closes it.
 * A second signal after more than two seconds, or a close that takes too long, ends the process at once; no
 * acknowledged event is lost by that. Signal handlers are installed before `start`, so that a signal that arrives right
 * after the program reports that it runs is not missed.
 */
export async function runUntilSignal(start: () => Promise<Stoppable>, log: Log): Promise<void> {
  const stopRequested = waitForSignal();
  const running = await start();
  let failure: Error | undefined;
  const ended = running.ended?.then(
    () => 'ended' as const,
    (error: unknown) => {
      failure = toError(error);
      return 'failed' as const;
    },
  );
  const reason = await Promise.race(ended === undefined ? [stopRequested] : [stopRequested, ended]);
  if (failure) log.error({ error: failure }, 'process.failed');
  log.info({ reason }, 'process.stopping');
  if (failure === undefined) await running.drain?.();
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

/** The first stop signal. A later one ends the process. */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let endsProcess = false;
    const receive = (name: NodeJS.Signals) => {
      if (endsProcess) process.exit(1);
      resolve(name);
      setTimeout(() => {
        endsProcess = true;
      }, SAME_SIGNAL_MS).unref();
    };
    for (const name of STOP_SIGNALS) process.on(name, receive);
  });
}

/**
 * Ends the process when a reader such as `head` has closed the pipe of its output: what is left has no reader.
 * The signal SIGPIPE, which Node ignores, ends other programs so. It is not a failure.
 */
export function endWhenUnread(output: NodeJS.WritableStream): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/**
 * Goes on when nobody reads the notes and errors of the process any more, so that the work is done and the exit
 * code is that of the command.
 */
export function continueWhenUnread(notes: NodeJS.WritableStream): void {
  notes.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** What a failed command left open must not keep its process. */
const END_WITHIN_MS = 1_000;

/** Has the process end with a code, as soon as its output is written. */
export function endWith(code: number): void {
  process.exitCode = code;
  if (code !== 0) setTimeout(() => process.exit(code), END_WITHIN_MS).unref();
}

/** Prints why the program cannot continue, and exits. */
export function exitWith(thrown: unknown): never {
  process.stderr.write(failureText(thrown));
  process.exit(1);
}

/** Why the program cannot continue, for a terminal, without a stack trace for an OperatorError. */
export function failureText(thrown: unknown): string {
  const error = toError(thrown);
  const text = error instanceof OperatorError ? error.message : (error.stack ?? error.message);
  return printableLines(`tallyhook: ${text}\n`);
}

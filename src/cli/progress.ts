/**
 * Progress of a long command, for people: how much is done, of how much, and the time left.
 *
 * 1. It goes to standard error. With --json there is none: programs read that.
 * 2. A terminal has one line that changes, and is cleared at the end, also when the work fails. Another output
 *    gets a line every ten seconds.
 */
import { monotonicMs } from '../platform/clock.ts';
import { printable } from '../platform/printable.ts';
import { type Sample, type TimeLeft, timeLeft, withSample } from './estimate.ts';
import { wantsJson } from './failure.ts';
import { invocation, terminal } from './invocation.ts';

export interface Counted {
  readonly done: number;
  /** About how many there are; 0 if unknown. */
  readonly total: number;
}

export interface ProgressState extends Counted {
  /** What is counted. The time left is estimated from the start of the phase. */
  readonly phase: string;
  /** More details, which change with each call. */
  readonly note?: string;
}

export type Show = (state: ProgressState) => void;

const TERMINAL_EVERY_MS = 200;
const FILE_EVERY_MS = 10_000;
/** How long a task that cannot count is quiet. */
const ELAPSED_AFTER_MS = 2_000;
const CLEAR_LINE = '\r\u001b[K';

/** Whether the command that runs shows its progress, for one to which counting costs something. */
export function showsProgress(): boolean {
  return !wantsJson(invocation().args);
}

/** Shows how much of the work is done. */
export function withProgress<T>(work: (show: Show) => Promise<T>): Promise<T> {
  let state: ProgressState | undefined;
  let samples: readonly Sample[] = [];
  const show: Show = (next) => {
    if (next.phase !== state?.phase) samples = [];
    const { done } = next;
    if (samples.at(-1)?.done !== done) {
      samples = withSample(samples, { atMs: monotonicMs(), done });
    }
    state = next;
  };
  const textNow = () =>
    state && progressText(state, timeLeft(samples, { nowMs: monotonicMs(), total: state.total }));
  return drawing(textNow, () => work(show));
}

/** Shows for how long the work has run, if it cannot count what is left. */
export function withElapsed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startMs = monotonicMs();
  const textNow = () => {
    const elapsedMs = monotonicMs() - startMs;
    return elapsedMs < ELAPSED_AFTER_MS
      ? undefined
      : `${what}: ${duration(Math.floor(elapsedMs / 1000) * 1000)}`;
  };
  return drawing(textNow, work);
}

/** Draws by a timer, so that a person sees the time pass while the work makes no step. */
async function drawing<T>(textNow: () => string | undefined, work: () => Promise<T>): Promise<T> {
  if (!showsProgress()) return work();
  const { stderr } = terminal();
  let drawn: string | undefined;
  const draw = () => {
    const given = textNow();
    const text = given === undefined ? undefined : printable(given);
    if (text === undefined || text === drawn) return;
    drawn = text;
    stderr.write(stderr.isTTY ? `${CLEAR_LINE}${text}` : `${text}\n`);
  };
  const timer = setInterval(draw, stderr.isTTY ? TERMINAL_EVERY_MS : FILE_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (stderr.isTTY && drawn !== undefined) stderr.write(CLEAR_LINE);
  }
}

/** `resources: 12,000 of about 40,000, 7 s to go (a note)`. */
export function progressText(state: ProgressState, left: TimeLeft | undefined): string {
  const { phase, note } = state;
  const toGo = left === undefined ? '' : `, ${timeLeftText(left)} to go`;
  return `${phase}: ${howFar(state)}${toGo}${note === undefined ? '' : ` (${note})`}`;
}

function howFar({ done, total }: ProgressState): string {
  const count = (rows: number) => rows.toLocaleString('en-US');
  return total <= done ? count(done) : `${count(done)} of about ${count(total)}`;
}

function timeLeftText({ leastMs, mostMs }: TimeLeft): string {
  const [least, most] = [duration(leastMs), duration(mostMs)];
  return least === most ? most : `${least} to ${most}`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Progress of a long task, for people: how much is done, of how much, and the time left. */
import { type Clock, monotonicMs } from '../platform/clock.ts';
import { type Sample, type TimeLeft, timeLeft, withSample } from './estimate.ts';

export interface ProgressState {
  /** What is counted. The time left is estimated from the start of the phase. */
  readonly phase: string;
  readonly done: number;
  /** About how many there are; 0 if unknown. */
  readonly total: number;
  /** More details, which change with each call. */
  readonly note?: string;
}

export interface ProgressLine {
  show(state: ProgressState): void;
  /** Clears the line. */
  clear(): void;
}

/** A terminal shows one line that changes; other outputs get a line every ten seconds. */
const TERMINAL_EVERY_MS = 200;
const FILE_EVERY_MS = 10_000;

export function createProgressLine(
  out: { readonly isTTY?: boolean; write(text: string): unknown },
  clock: Clock,
): ProgressLine {
  const everyMs = out.isTTY ? TERMINAL_EVERY_MS : FILE_EVERY_MS;
  let phase = '';
  let samples: readonly Sample[] = [];
  let shownMs = clock.nowMs();
  return {
    show: (state) => {
      const nowMs = clock.nowMs();
      const { done, total } = state;
      if (state.phase !== phase) {
        phase = state.phase;
        samples = [];
      }
      if (samples.at(-1)?.done !== done) samples = withSample(samples, { atMs: nowMs, done });
      if (nowMs - shownMs < everyMs) return;
      shownMs = nowMs;
      const text = progressText(state, timeLeft(samples, { nowMs, total }));
      out.write(out.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    clear: () => {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}

/** Also how long a task is quiet in a terminal. */
const ELAPSED_EVERY_MS = 2_000;

/**
 * Shows for how long a task has run, for one that cannot count what is left.
 * @param out undefined: shows nothing
 */
export async function withElapsed<T>(
  out: { readonly isTTY?: boolean; write(text: string): unknown } | undefined,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (out === undefined) return work();
  const startMs = monotonicMs();
  const show = () => {
    const text = `${what}: ${duration(monotonicMs() - startMs)}`;
    out.write(out.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  };
  const timer = setInterval(show, out.isTTY ? ELAPSED_EVERY_MS : FILE_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (out.isTTY) out.write('\r\u001b[K');
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

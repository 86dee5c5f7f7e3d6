/** Progress of a long task, for people: how much is done, of how much, and the time left. */
import type { Clock } from '../platform/clock.ts';

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
  let lastMs = clock.nowMs();
  let phaseStartMs = lastMs;
  let shownMs = lastMs;
  return {
    show: (state) => {
      const nowMs = clock.nowMs();
      if (state.phase !== phase) {
        phase = state.phase;
        phaseStartMs = lastMs;
      }
      lastMs = nowMs;
      if (nowMs - shownMs < everyMs) return;
      shownMs = nowMs;
      const text = progressText(state, nowMs - phaseStartMs);
      out.write(out.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    clear: () => {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}

/** `resources: 12,000 of about 40,000, 7 s to go (a note)`. */
export function progressText(state: ProgressState, elapsedMs: number): string {
  const { phase, note } = state;
  return `${phase}: ${howFar(state, elapsedMs)}${note === undefined ? '' : ` (${note})`}`;
}

function howFar({ done, total }: ProgressState, elapsedMs: number): string {
  const count = (rows: number) => rows.toLocaleString('en-US');
  if (total <= done) return count(done);
  const part = `${count(done)} of about ${count(total)}`;
  // Without progress there is no estimate.
  if (done <= 0 || elapsedMs <= 0) return part;
  const secondsToGo = Math.ceil((((total - done) / done) * elapsedMs) / 1000);
  return `${part}, ${duration(secondsToGo)} to go`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Progress of something long, for a person: how far, of about how much, and how long still. */
import type { Clock } from '../platform/clock.ts';

export interface ProgressState {
  /** What is counted, the same as long as it is: the time to go is told from where it began. */
  readonly phase: string;
  readonly done: number;
  /** About how many there are; 0 when that is not known. */
  readonly total: number;
  /** What else there is to say, which changes from moment to moment. */
  readonly note?: string;
}

export interface ProgressLine {
  show(state: ProgressState): void;
  /** Leaves an empty line to go on in. */
  clear(): void;
}

/** A terminal shows one line that changes; anything else gets a line now and then. */
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
  // As long as nothing is done, nothing tells how long it takes.
  if (done <= 0 || elapsedMs <= 0) return part;
  const secondsToGo = Math.ceil((((total - done) / done) * elapsedMs) / 1000);
  return `${part}, ${duration(secondsToGo)} to go`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

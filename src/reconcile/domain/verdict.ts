/**
 * The verdict of a run.
 *
 * 1. Equal means that something was compared and no difference remains. Where neither the list nor the
 *    ledger has a row, the verdict is empty, which proves less: a list that misses everything looks the
 *    same.
 * 2. An empty span compares nothing. The run fails, with the reason.
 */
import type { Span } from './windows.ts';

/** `stopped`: a person ended it before its end. `unfinished`: it is running or paused. */
export const VERDICTS = ['equal', 'different', 'empty', 'failed', 'stopped', 'unfinished'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** What the verdict of a run depends on. */
export interface Judged {
  readonly state: 'running' | 'paused' | 'stopped' | 'done' | 'failed';
  /** Rows that were listed. */
  readonly rowsCompared: number;
  /** Rows that were compared by counts that agreed. */
  readonly rowsCounted: number;
  readonly found: number;
  readonly repaired: number;
}

/** The verdict of a run in any state. */
export function verdictOf(run: Judged): Verdict {
  switch (run.state) {
    case 'done':
      return verdictOfDone(run);
    case 'failed':
    case 'stopped':
      return run.state;
    case 'running':
    case 'paused':
      return 'unfinished';
  }
}

/** Rule 1, for a run that is done. */
export function verdictOfDone({
  rowsCompared,
  rowsCounted,
  found,
  repaired,
}: Omit<Judged, 'state'>): 'equal' | 'different' | 'empty' {
  if (found > repaired) return 'different';
  return rowsCompared + rowsCounted + found === 0 ? 'empty' : 'equal';
}

/** What a run found, such as `3 found, 2 repaired, 1 left`. */
export function foundText({ found, repaired }: Pick<Judged, 'found' | 'repaired'>): string {
  if (found === 0) return 'nothing found';
  return `${found} found, ${repaired} repaired, ${found - repaired} left`;
}

/** Why nothing can be compared in a span (rule 2); undefined where something can. */
export function emptySpanReason({ fromMs, toMs }: Span): string | undefined {
  if (fromMs < toMs) return undefined;
  return (
    `nothing was compared: the span begins at ${new Date(fromMs).toISOString()}, and the list can be ` +
    `read only up to ${new Date(toMs).toISOString()}. Check --from and --to against the service's clock`
  );
}

/**
 * What a run came to.
 *
 * 1. Equal means that something was compared and nothing is left. A list that showed or counted no row
 *    of a span of which the ledger holds none either is empty, which proves less: a span that misses
 *    everything looks the same.
 * 2. A span without length compares nothing. It is no verdict but a failure, with its reason.
 */
import type { Span } from './windows.ts';

/** `unfinished`: it runs, or a pause holds it. */
export const VERDICTS = ['equal', 'different', 'empty', 'failed', 'unfinished'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** A run as far as its verdict goes. */
export interface Judged {
  readonly state: 'running' | 'paused' | 'done' | 'failed';
  /** Rows that were listed. */
  readonly rowsCompared: number;
  /** Rows that were compared by counts that agreed. */
  readonly rowsCounted: number;
  readonly found: number;
  readonly healed: number;
}

export function verdictOf(run: Judged): Verdict {
  if (run.state === 'failed') return 'failed';
  return run.state === 'done' ? verdictOfDone(run) : 'unfinished';
}

/** Invariant 1, of a run that came to its end. */
export function verdictOfDone({
  rowsCompared,
  rowsCounted,
  found,
  healed,
}: Omit<Judged, 'state'>): 'equal' | 'different' | 'empty' {
  if (found > healed) return 'different';
  return rowsCompared + rowsCounted + found === 0 ? 'empty' : 'equal';
}

/** Why nothing can be compared in a span (invariant 2); undefined where something can. */
export function emptySpanReason({ fromMs, toMs }: Span): string | undefined {
  if (fromMs < toMs) return undefined;
  return (
    `nothing was compared: the span would begin at ${new Date(fromMs).toISOString()}, and the list can ` +
    `be read up to ${new Date(toMs).toISOString()} only. Compare --from and --to with the service's clock`
  );
}

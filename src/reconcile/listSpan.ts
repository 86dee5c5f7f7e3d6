/** Lists spans by windows, heals each before the next, and keeps what a run has done so far. */

import type { PaymentServiceClient } from '../client/index.ts';
import type { FindingName } from '../ledger/store/findings.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Asking } from './asking.ts';
import { nextWindow, rowsWanted, type Span, widthAfter } from './domain/windows.ts';
import { closeUnusable } from './findings.ts';
import { type HealParts, healWindow } from './heal.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { isPaused } from './pause.ts';
import type { ListReader } from './readList.ts';
import type { Retrieve } from './retrieve.ts';
import { Paused } from './serviceTrouble.ts';
import { readAccepted, readEdgeMs } from './store/compare.ts';
import { type ReportedDifference, type RunCounts, type RunRow, writeStep } from './store/runs.ts';
import { KIND_OF, type Stream } from './streams.ts';

const KEPT_DIFFERENCES = 200;

export interface RunProgress extends RunCounts {
  readonly span: Span;
  readonly positionMs: number;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: RunProgress) => void;
}

export interface ReconcileParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly retrieve: Retrieve;
  readonly clock: Clock;
  readonly metrics: ReconcileMetrics;
  readonly log: Log;
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** What happens to a run as it goes. */
export interface RunState {
  readonly row: RunRow;
  readonly span: Span;
  positionMs: number;
  counts: RunCounts;
  differences: readonly ReportedDifference[];
  /** Differences seen that are still there, accepted ones included. */
  unhealed: number;
  /** Rows that said too little to show that their money is equal. */
  thinRows: number;
  isFilterIgnored: boolean;
  isUnstable: boolean;
}

/** What the two modes work with. */
export interface RunTools {
  readonly parts: ReconcileParts;
  readonly stream: Stream;
  readonly asking: Asking;
  readonly reader: ListReader;
  readonly heal: HealParts;
  readonly options: RunOptions;
  readonly mayPause: boolean;
}

/** Lists a span by windows, and heals each before the next. @throws ServiceTrouble */
export async function listSpan(tools: RunTools, state: RunState, span: Span): Promise<void> {
  const { parts, stream, reader } = tools;
  const isWholeRun = span === state.span;
  let positionMs = isWholeRun ? state.positionMs : span.fromMs;
  let widthMs: number | undefined;
  do {
    await throwIfPaused(tools);
    const rows = rowsWanted(reader.limit());
    const ahead = { fromMs: positionMs, toMs: span.toMs };
    const edgeMs = await readEdgeMs(parts.db, KIND_OF[stream], { span: ahead, rows });
    const next = nextWindow({ positionMs, ceilingMs: span.toMs, edgeMs, widthMs });
    const window = await reader.read(next, span.toMs);
    const result = await healWindow(tools.heal, stream, window);
    state.isFilterIgnored ||= window.isFilterIgnored;
    state.isUnstable ||= window.isUnstable;
    state.thinRows += window.rows.filter(({ isHint }) => isHint).length;
    positionMs = window.span.toMs;
    widthMs =
      window.by === 'walks'
        ? undefined
        : widthAfter(window.span, window.rows.length, reader.limit());
    const unreadable = window.unreadable.map((id) => ({
      class: 'amount',
      subject: `${KIND_OF[stream]}:${id}`,
      outcome: 'left' as const,
    }));
    if (isWholeRun) state.positionMs = positionMs;
    await step(tools, state, {
      compared: result.compared,
      missed: result.missed,
      differences: [...result.differences, ...unreadable],
    });
  } while (positionMs < span.toMs);
}

export interface StepResult {
  /** Rows that were listed. */
  readonly compared: number;
  /** Rows whose counts agreed. */
  readonly counted?: number;
  readonly missed: number;
  readonly differences: readonly ReportedDifference[];
}

/** Writes the checkpoint, which also shows that the list can be read (rules 3 and 4). */
export async function step(tools: RunTools, state: RunState, result: StepResult): Promise<void> {
  const { counts } = state;
  const differences = await withAccepted(tools, result.differences);
  const counted = differences.filter(({ outcome }) => outcome !== 'accepted');
  state.counts = {
    windows: counts.windows + 1,
    requests: tools.asking.requests(),
    rowsCompared: counts.rowsCompared + result.compared,
    rowsCounted: counts.rowsCounted + (result.counted ?? 0),
    found: counts.found + counted.length,
    healed: counts.healed + counted.filter(({ outcome }) => outcome === 'healed').length,
    missed: counts.missed + result.missed,
  };
  state.unhealed += differences.filter(({ outcome }) => outcome !== 'healed').length;
  state.differences = [...state.differences, ...differences].slice(0, KEPT_DIFFERENCES);
  await writeStep(tools.parts.db, state.row.id, {
    ...state.counts,
    positionAt: new Date(state.positionMs),
    differences: state.differences,
  });
  await closeUnusable(tools.parts.db, tools.stream);
  const { span, positionMs } = state;
  tools.options.onProgress?.({ ...state.counts, span, positionMs });
}

/** What somebody accepted as it is no longer counts as a difference. */
async function withAccepted(
  { parts }: RunTools,
  differences: readonly ReportedDifference[],
): Promise<readonly ReportedDifference[]> {
  const left = differences.filter(({ outcome }) => outcome === 'left');
  if (left.length === 0) return differences;
  const nameOf = (finding: FindingName): string => `${finding.class} ${finding.subject}`;
  const accepted = new Set((await readAccepted(parts.db, left)).map(nameOf));
  return differences.map((one) =>
    one.outcome === 'left' && accepted.has(nameOf(one)) ? { ...one, outcome: 'accepted' } : one,
  );
}

/** A schedule's run stops at the switch; what people ask for does not. */
export async function throwIfPaused({ parts, mayPause }: RunTools): Promise<void> {
  if (mayPause && (await isPaused(parts.db))) throw new Paused();
}

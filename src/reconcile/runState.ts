/**
 * The state of a run: what it has reconciled, counted and found so far.
 *
 * A state is a value. Each function returns the next one and changes nothing, so that a run's course
 * in run.ts shows where its state comes from. Checkpoints are written in recordStep.ts.
 */
import type { Span } from './domain/windows.ts';
import type { ListedWindow } from './listReader.ts';
import {
  KEPT_DIFFERENCES,
  type ReportedDifference,
  type RunCounts,
  type RunRow,
} from './store/runs.ts';

export interface RunState {
  readonly span: Span;
  /** Everything created before it is reconciled; a resumed run continues here. */
  readonly checkpointMs: number;
  readonly counts: RunCounts;
  /** For the report; the first KEPT_DIFFERENCES of them. */
  readonly differences: readonly ReportedDifference[];
  /** How many differences were not repaired, accepted ones included. */
  readonly unrepaired: number;
  /** Rows with too few fields to show that their amounts are equal. */
  readonly shortRows: number;
  readonly isFilterIgnored: boolean;
  /** A window was unstable, or the list lacked more than single resources. */
  readonly isUnstable: boolean;
}

/** What one step of a run adds. */
export interface Step {
  /** Rows that were listed. */
  readonly compared: number;
  /** Rows that were compared by counts that agreed. */
  readonly counted?: number;
  readonly missed: number;
  readonly differences: readonly ReportedDifference[];
}

/** The state in which a run starts: at its checkpoint, with the counts stored there. */
export function initialState(row: RunRow): RunState {
  return {
    span: spanOf(row),
    checkpointMs: row.positionAt.getTime(),
    counts: row,
    differences: row.differences,
    unrepaired: row.differences.filter(({ outcome }) => outcome !== 'repaired').length,
    shortRows: 0,
    isFilterIgnored: false,
    isUnstable: row.differences.some((difference) => difference.class === 'list_unstable'),
  };
}

export function spanOf({ fromAt, toAt }: Pick<RunRow, 'fromAt' | 'toAt'>): Span {
  return { fromMs: fromAt.getTime(), toMs: toAt.getTime() };
}

/** Adds a step. @param requests those of the whole run, up to now */
export function afterStep(state: RunState, step: Step, requests: number): RunState {
  const { counts } = state;
  const counted = step.differences.filter(({ outcome }) => outcome !== 'accepted');
  const repaired = step.differences.filter(({ outcome }) => outcome === 'repaired').length;
  return {
    ...state,
    counts: {
      windows: counts.windows + 1,
      requests,
      rowsCompared: counts.rowsCompared + step.compared,
      rowsCounted: counts.rowsCounted + (step.counted ?? 0),
      found: counts.found + counted.length,
      repaired: counts.repaired + repaired,
      missed: counts.missed + step.missed,
    },
    differences: [...state.differences, ...step.differences].slice(0, KEPT_DIFFERENCES),
    unrepaired: state.unrepaired + step.differences.length - repaired,
  };
}

/**
 * Adds what a window showed of its list. The checkpoint moves with the windows of the run's own span;
 * those of a part of it leave it where it is.
 */
export function afterWindow(state: RunState, window: ListedWindow, span: Span): RunState {
  return {
    ...state,
    checkpointMs: isWholeSpan(state, span) ? window.span.toMs : state.checkpointMs,
    shortRows: state.shortRows + window.rows.filter(({ isHint }) => isHint).length,
    isFilterIgnored: state.isFilterIgnored || window.isFilterIgnored,
    isUnstable: state.isUnstable || window.isUnstable,
  };
}

/** Where listing a span starts: at the checkpoint for the run's own span, else at its beginning. */
export function startOf(state: RunState, span: Span): number {
  return isWholeSpan(state, span) ? state.checkpointMs : span.fromMs;
}

function isWholeSpan({ span: whole }: RunState, { fromMs, toMs }: Span): boolean {
  return fromMs === whole.fromMs && toMs === whole.toMs;
}

/** The whole span is reconciled. */
export function atEnd(state: RunState): RunState {
  return { ...state, checkpointMs: state.span.toMs };
}

/** Requests were sent outside of a step. */
export function afterRequests(state: RunState, requests: number): RunState {
  return { ...state, counts: { ...state.counts, requests } };
}

/** Every difference seen so far, repaired or not: unchanged where a part of the span had none. */
export function differencesSeen({ counts, unrepaired }: RunState): number {
  return counts.found + unrepaired;
}

/**
 * Compares a span by counts, and by sums where the counts are equal; the rules are those of
 * domain/totals.ts and domain/sums.ts.
 */
import { PAYMENT_LIST_STATUSES } from '../contract/requests/payments.ts';
import { countCreated } from '../ledger/read/store/comparison.ts';
import { compareSums } from './compareSums.ts';
import { coversWeek } from './domain/spans.ts';
import {
  afterHalving,
  type Cell,
  type Counts,
  cellsOf,
  type Effort,
  isListingCheaper,
  localCount,
  NO_EFFORT,
  nextStep,
  restOf,
} from './domain/totals.ts';
import { rowsWanted, type Span } from './domain/windows.ts';
import { closeComparison, openComparison } from './findings.ts';
import { recordStep } from './recordStep.ts';
import { createRemoteCounts, type RemoteCounts } from './remoteCounts.ts';
import { type ReconcileSpan, type RunContext, throwIfPaused } from './runContext.ts';
import { atEnd, type RunState } from './runState.ts';
import { KIND_OF } from './streams.ts';

const NOTHING_COMPARED = { compared: 0, missed: 0, differences: [] } as const;

/**
 * Compares the run's span by totals. Only payments have filters by status and currency in the contract.
 * The other lists, and those of a service that sends no totals or ignores a filter, are listed in full: they
 * are short, or there is no other way.
 * @throws RunInterrupted
 */
export async function compareTotals(
  run: RunContext,
  initial: RunState,
  reconcileSpan: ReconcileSpan,
): Promise<RunState> {
  const { span } = initial;
  if (run.stream !== 'payments') return await reconcileSpan(run, initial, span);
  const counts = createRemoteCounts(run);
  const whole = await counts.count({}, span);
  if (whole === undefined) return await listInstead(run, initial, reconcileSpan);
  let state = initial;
  const unequal: Cell[] = [];
  const local = await countLocal(run, span);
  for (const cell of cellsOf(PAYMENT_LIST_STATUSES, local)) {
    const isEverything = cell.status === undefined;
    const remote = isEverything ? whole : await counts.count(cell, span);
    if (!counts.areUsable()) return await listInstead(run, state, reconcileSpan);
    if (remote !== localCount(cell, local)) unequal.push(cell);
    state = await recordStep(run, state, NOTHING_COMPARED);
  }
  state = await reconcileCells(run, state, { counts, unequal, whole, reconcileSpan });
  const recounted = await recordUnequal(run, state, { counts, unequal });
  state = recounted.areEqual
    ? await compareSums(run, recounted.state, reconcileSpan)
    : recounted.state;
  const counted = recounted.areEqual ? whole : 0;
  return await recordStep(run, atEnd(state), { ...NOTHING_COMPARED, counted });
}

/** Lists everything in place of counting, which shows at least as much (rule 4). */
async function listInstead(
  run: RunContext,
  before: RunState,
  reconcileSpan: ReconcileSpan,
): Promise<RunState> {
  const state = await reconcileSpan(run, before, before.span);
  const isProven = !run.row.isDryRun && !state.isUnstable;
  if (isProven && coversWeek(state.span, run.parts.clock.nowMs())) {
    await closeComparison(run.parts.db, ['totals'], [subjectOf(run)]);
  }
  return state;
}

function subjectOf({ stream }: RunContext): string {
  return `totals:${stream}`;
}

interface UnequalCells {
  readonly counts: RemoteCounts;
  readonly unequal: readonly Cell[];
  /** All rows that the service has in the span. */
  readonly whole: number;
  readonly reconcileSpan: ReconcileSpan;
}

/** Narrows down each unequal cell, or lists everything where that is cheaper (rules 2, 3 and 5). */
async function reconcileCells(
  run: RunContext,
  initial: RunState,
  { counts: remote, unequal, whole, reconcileSpan }: UnequalCells,
): Promise<RunState> {
  let [state, effort] = [initial, NO_EFFORT];
  for (const cell of unequal) {
    const counts = await countBoth(run, remote, { cell, span: state.span });
    if (!remote.areUsable()) return await listInstead(run, state, reconcileSpan);
    const descent = { remote, cell, counts, whole, effort, reconcileSpan };
    const narrowed = await narrowDown(run, state, descent);
    if (narrowed.effort === 'list_all') return await reconcileSpan(run, narrowed.state, state.span);
    ({ state, effort } = { state: narrowed.state, effort: narrowed.effort });
  }
  return state;
}

interface Descent {
  readonly remote: RemoteCounts;
  readonly cell: Cell;
  /** Of the whole span. */
  readonly counts: Counts;
  readonly whole: number;
  readonly effort: Effort;
  readonly reconcileSpan: ReconcileSpan;
}

interface Narrowed {
  readonly state: RunState;
  readonly effort: Effort | 'list_all';
}

/** Halves a cell's span level by level, and reconciles what is narrow enough to be listed. */
async function narrowDown(
  run: RunContext,
  initial: RunState,
  { remote, cell, counts, whole, effort: effortBefore, reconcileSpan }: Descent,
): Promise<Narrowed> {
  const fits = rowsWanted(run.reader.limit());
  const rows = Math.max(counts.rows, whole);
  const pending: { readonly span: Span; readonly counts: Counts }[] = [
    { span: initial.span, counts },
  ];
  let [state, effort] = [initial, effortBefore];
  for (let node = pending[0]; node; node = pending[0]) {
    await throwIfPaused(run);
    const next = nextStep(node.span, node.counts, fits);
    const isHalved = next.kind === 'halve';
    const ahead = { rows, fits, pending: pending.map(({ counts }) => counts) };
    if (isHalved && isListingCheaper(effort, ahead)) return { state, effort: 'list_all' };
    pending.shift();
    if (next.kind === 'list') {
      const { windows } = state.counts;
      state = await reconcileSpan(run, state, node.span);
      effort = { ...effort, spent: effort.spent + state.counts.windows - windows };
    }
    if (isHalved) {
      const left = await countBoth(run, remote, { cell, span: next.left });
      const right = restOf(node.counts, left);
      effort = afterHalving(effort, left, right);
      pending.push({ span: next.left, counts: left }, { span: next.right, counts: right });
    }
  }
  return { state, effort };
}

/**
 * Counts the unequal cells again, now that they are reconciled, and records those that differ still.
 * @returns with `areEqual` where none does, as far as the service sends its counts
 */
async function recordUnequal(
  run: RunContext,
  state: RunState,
  { counts, unequal }: Pick<UnequalCells, 'counts' | 'unequal'>,
): Promise<{ readonly state: RunState; readonly areEqual: boolean }> {
  const { db, clock } = run.parts;
  const { isDryRun } = run.row;
  const subject = subjectOf(run);
  const cells: object[] = [];
  let isKnown = true;
  for (const cell of unequal) {
    const { remote, local } = await countBoth(run, counts, { cell, span: state.span });
    if (remote === undefined) isKnown = false;
    else if (remote !== local) cells.push({ ...cell, service: remote, ledger: local });
  }
  // A dry run repairs nothing, so that its counts stay unequal for what it has reported already.
  if (cells.length === 0 || isDryRun) {
    // What differs may have been created before a shorter span.
    const closes = !isDryRun && isKnown && coversWeek(state.span, clock.nowMs());
    if (closes) await closeComparison(db, ['totals'], [subject]);
    return { state, areEqual: cells.length === 0 && isKnown };
  }
  await openComparison(db, [{ class: 'totals', subject, detail: { cells } }]);
  const differences = [{ class: 'totals', subject, outcome: 'remaining' } as const];
  const recorded = await recordStep(run, state, { ...NOTHING_COMPARED, differences });
  return { state: recorded, areEqual: false };
}

async function countBoth(
  run: RunContext,
  { count }: RemoteCounts,
  { cell, span }: { readonly cell: Cell; readonly span: Span },
): Promise<Counts> {
  const remote = await count(cell, span);
  const counts = await countLocal(run, span);
  return { remote, local: localCount(cell, counts), rows: localCount({}, counts) };
}

function countLocal({ parts, stream }: RunContext, span: Span) {
  return countCreated(parts.db, KIND_OF[stream], span);
}

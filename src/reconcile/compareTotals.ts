/**
 * Compares a span by counts, and by sums where the counts are equal; the rules are those of
 * domain/totals.ts and domain/sums.ts.
 */
import { PAYMENT_LIST_STATUSES } from '../contract/requests/payments.ts';
import { compareSums } from './compareSums.ts';
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
import { listSpan, type RunState, type RunTools, step, throwIfPaused } from './listSpan.ts';
import { countCreated } from './store/compare.ts';
import { KIND_OF } from './streams.ts';

/**
 * Runs a totals comparison. Only payments are filtered by status and currency in the contract; the
 * other lists, and a service that tells no totals, are listed in full: they are short, or there is no
 * other way.
 * @throws ServiceTrouble
 */
export async function compareTotals(tools: RunTools, state: RunState): Promise<void> {
  const { span } = state;
  const whole = tools.stream === 'payments' ? await countRemote(tools, {}, span) : undefined;
  if (whole === undefined) {
    await listSpan(tools, state, span);
    return;
  }
  const suspects: Cell[] = [];
  const local = await countLocal(tools, span);
  for (const cell of cellsOf(PAYMENT_LIST_STATUSES, local)) {
    const isWhole = cell.status === undefined;
    const remote = isWhole ? whole : await countRemote(tools, cell, span);
    if (remote !== localCount(cell, local)) suspects.push(cell);
    await step(tools, state, { compared: 0, missed: 0, differences: [] });
  }
  await descend(tools, state, { suspects, whole });
  const areCountsEqual = await settle(tools, state, suspects);
  if (areCountsEqual) await compareSums(tools, state);
  state.positionMs = span.toMs;
  const counted = areCountsEqual ? whole : 0;
  await step(tools, state, { compared: 0, counted, missed: 0, differences: [] });
}

/** Goes down in each unequal cell, or lists everything where that is cheaper (rules 2, 3 and 5). */
async function descend(
  tools: RunTools,
  state: RunState,
  { suspects, whole }: { readonly suspects: readonly Cell[]; readonly whole: number },
): Promise<void> {
  let effort = NO_EFFORT;
  for (const cell of suspects) {
    const counts = await countBoth(tools, cell, state.span);
    const after = await narrowDown(tools, state, { cell, counts, whole, effort });
    if (after === 'list_all') {
      await listSpan(tools, state, state.span);
      return;
    }
    effort = after;
  }
}

interface Descent {
  readonly cell: Cell;
  /** Of the whole span. */
  readonly counts: Counts;
  /** All rows of the service there. */
  readonly whole: number;
  readonly effort: Effort;
}

/** Halves a cell's span level by level, and lists what is narrow enough. */
async function narrowDown(
  tools: RunTools,
  state: RunState,
  { cell, counts, whole, effort: before }: Descent,
): Promise<Effort | 'list_all'> {
  const fits = rowsWanted(tools.reader.limit());
  const rows = Math.max(counts.rows, whole);
  const pending: { readonly span: Span; readonly counts: Counts }[] = [
    { span: state.span, counts },
  ];
  let effort = before;
  for (let node = pending[0]; node; node = pending[0]) {
    await throwIfPaused(tools);
    const next = nextStep(node.span, node.counts, fits);
    const isHalved = next.kind === 'halve';
    const ahead = { rows, fits, pending: pending.map((one) => one.counts) };
    if (isHalved && isListingCheaper(effort, ahead)) return 'list_all';
    pending.shift();
    if (next.kind === 'list') {
      const { windows } = state.counts;
      await listSpan(tools, state, node.span);
      effort = { ...effort, spent: effort.spent + state.counts.windows - windows };
    }
    if (isHalved) {
      const left = await countBoth(tools, cell, next.left);
      const right = restOf(node.counts, left);
      effort = afterHalving(effort, left, right);
      pending.push({ span: next.left, counts: left }, { span: next.right, counts: right });
    }
  }
  return effort;
}

/**
 * Says which cells are unequal still, now that everything was listed that seemed so.
 * @returns whether there are none, as far as the service told its counts
 */
async function settle(
  tools: RunTools,
  state: RunState,
  suspects: readonly Cell[],
): Promise<boolean> {
  const { db } = tools.parts;
  const subject = `totals:${tools.stream}`;
  const left: object[] = [];
  let isKnown = true;
  for (const cell of suspects) {
    const counts = await countBoth(tools, cell, state.span);
    const { remote, local } = counts;
    if (remote === undefined) isKnown = false;
    else if (remote !== local) left.push({ ...cell, service: remote, ledger: local });
  }
  const isDryRun = tools.heal.isDryRun;
  // A dry run heals nothing, so that its counts stay unequal for what it has named already.
  if (left.length === 0 || isDryRun) {
    if (!isDryRun && isKnown) await closeComparison(db, ['totals'], [subject]);
    return left.length === 0 && isKnown;
  }
  await openComparison(db, [{ class: 'totals', subject, detail: { cells: left } }]);
  const difference = { class: 'totals', subject, outcome: 'left' } as const;
  await step(tools, state, { compared: 0, missed: 0, differences: [difference] });
  return false;
}

async function countBoth(tools: RunTools, cell: Cell, span: Span): Promise<Counts> {
  const remote = await countRemote(tools, cell, span);
  const counts = await countLocal(tools, span);
  return { remote, local: localCount(cell, counts), rows: localCount({}, counts) };
}

function countLocal({ parts, stream }: RunTools, span: Span) {
  return countCreated(parts.db, KIND_OF[stream], span);
}

/** @returns undefined where the service tells no totals */
async function countRemote(
  { parts, asking }: RunTools,
  { status, currency }: Cell,
  span: Span,
): Promise<number | undefined> {
  const page = await asking.ask((options) =>
    parts.client.payments.list(
      {
        limit: 1,
        created_gte: new Date(span.fromMs).toISOString(),
        created_lte: new Date(span.toMs).toISOString(),
        ...(currency !== undefined && { currency }),
        ...(isListStatus(status) && { status }),
      },
      options,
    ),
  );
  return page.totalCount;
}

type ListStatus = (typeof PAYMENT_LIST_STATUSES)[number];

function isListStatus(status: string | undefined): status is ListStatus {
  return (PAYMENT_LIST_STATUSES as readonly (string | undefined)[]).includes(status);
}

/** The state of a run: what a step and a window add, and when the checkpoint moves. */
import { expect, test } from 'vitest';
import type { ListedWindow } from '../../../src/reconcile/listReader.ts';
import {
  afterStep,
  afterWindow,
  differencesSeen,
  initialState,
  startOf,
} from '../../../src/reconcile/runState.ts';
import type { ReportedDifference, RunRow } from '../../../src/reconcile/store/runs.ts';

const NOTHING = {
  windows: 0,
  requests: 0,
  rowsCompared: 0,
  rowsCounted: 0,
  found: 0,
  repaired: 0,
  missed: 0,
};
const SPAN = { fromMs: 1_000, toMs: 9_000 };

function rowOf(fields: Partial<RunRow> = {}): RunRow {
  return {
    ...NOTHING,
    id: 1,
    stream: 'payments',
    mode: 'full',
    cause: 'tail',
    isDryRun: false,
    state: 'running',
    fromAt: new Date(SPAN.fromMs),
    toAt: new Date(SPAN.toMs),
    positionAt: new Date(SPAN.fromMs),
    startedAt: new Date(SPAN.fromMs),
    finishedAt: null,
    failure: null,
    stoppedBy: null,
    differences: [],
    sums: null,
    ...fields,
  };
}

function windowTo(toMs: number, fields: Partial<ListedWindow> = {}): ListedWindow {
  const span = { fromMs: SPAN.fromMs, toMs };
  const flags = { isUnstable: false, isFilterIgnored: false };
  return { span, rows: [], unreadable: [], by: 'window', ...flags, ...fields };
}

function difference(outcome: ReportedDifference['outcome'], n = 0): ReportedDifference {
  return { class: 'stale_local', subject: `payment:pay_${n}`, outcome };
}

test('the checkpoint moves with windows of the whole span, and not with those of a part', () => {
  const state = initialState(rowOf());
  const part = { fromMs: 2_000, toMs: 3_000 };
  expect(afterWindow(state, windowTo(4_000), SPAN).checkpointMs).toBe(4_000);
  expect(afterWindow(state, windowTo(3_000), part).checkpointMs).toBe(SPAN.fromMs);
});

test('a resumed run starts at its checkpoint, and a part of its span at the beginning of the part', () => {
  const state = initialState(rowOf({ positionAt: new Date(5_000) }));
  expect(startOf(state, { ...SPAN })).toBe(5_000);
  expect(startOf(state, { fromMs: 2_000, toMs: 3_000 })).toBe(2_000);
});

test('a step adds to the counts, and accepted differences do not count as found', () => {
  const differences = [difference('repaired'), difference('remaining'), difference('accepted')];
  const step = { compared: 3, counted: 2, missed: 1, differences };
  const state = afterStep(initialState(rowOf()), step, 7);
  expect(state.counts).toEqual({
    windows: 1,
    requests: 7,
    rowsCompared: 3,
    rowsCounted: 2,
    found: 2,
    repaired: 1,
    missed: 1,
  });
  expect(state.unrepaired).toBe(2);
  expect(state.differences).toEqual(differences);
});

test('every difference of a step is seen, an accepted one too', () => {
  const before = initialState(rowOf());
  const step = { compared: 1, missed: 0, differences: [difference('accepted')] };
  expect(differencesSeen(afterStep(before, step, 1))).toBeGreaterThan(differencesSeen(before));
});

test('a list that was unstable or ignored its filter once stays so for the run', () => {
  const flawed = windowTo(2_000, { isUnstable: true, isFilterIgnored: true });
  const state = afterWindow(initialState(rowOf()), flawed, SPAN);
  const { isUnstable, isFilterIgnored } = afterWindow(state, windowTo(3_000), SPAN);
  expect([isUnstable, isFilterIgnored]).toEqual([true, true]);
});

test('a report keeps the first 200 differences, and all of them count', () => {
  const differences = Array.from({ length: 250 }, (_, n) => difference('remaining', n));
  const state = afterStep(initialState(rowOf()), { compared: 250, missed: 0, differences }, 1);
  expect(state.differences).toEqual(differences.slice(0, 200));
  expect(state.counts.found).toBe(250);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/platform/time.ts';
import {
  ageOfChangeMs,
  compare,
  contradictsLate,
  isClockSet,
  isMoneyChanged,
  isPastGrace,
  judgeRepaired,
  type Local,
  type Remote,
  reportedWithinMs,
} from '../../../src/reconcile/domain/compare.ts';
import { sliceSpan, weekSpan } from '../../../src/reconcile/domain/spans.ts';
import {
  type Counts,
  cellsOf,
  localCount,
  nextStep,
  restOf,
} from '../../../src/reconcile/domain/totals.ts';
import { afterWalk, judgeWalks, NO_WALKS } from '../../../src/reconcile/domain/walks.ts';

const remote: Remote = {
  kind: 'payment',
  id: 'pay_1',
  status: 'succeeded',
  stage: undefined,
  currency: 'USD',
  amountMinor: 6540,
  capturedMinor: 6540,
  versionMicros: 1_000,
  createdMs: 0,
  paymentId: undefined,
  orderKey: 'order:ord_1',
};
const local: Local = {
  status: 'succeeded',
  stage: null,
  currency: 'USD',
  amountMinor: 6540,
  capturedMinor: 6540,
  versionMicros: 1_000,
  paymentId: null,
  orderKey: 'order:ord_1',
};

test('a row is compared only by the fields that it has (rule 1)', () => {
  expect(compare(remote, local)).toBeUndefined();
  expect(compare(remote, undefined)).toBe('missing_local');
  expect(compare(remote, { ...local, status: null })).toBe('missing_local');
  expect(compare({ ...remote, amountMinor: undefined, status: undefined }, local)).toBeUndefined();
  expect(compare({ ...remote, amountMinor: 1 }, local)).toBe('amount');
  expect(compare({ ...remote, capturedMinor: 1 }, local)).toBe('amount');
  expect(compare({ ...remote, currency: 'EUR' }, local)).toBe('currency');
  expect(compare({ ...remote, status: 'failed' }, local)).toBe('status_conflict');
  expect(compare({ ...remote, stage: 'arbitration' }, local)).toBe('status_conflict');
  expect(compare({ ...remote, versionMicros: 2_000 }, local)).toBeUndefined();
  expect(compare({ ...remote, status: 'failed', versionMicros: 2_000 }, local)).toBe('stale_local');
  expect(compare({ ...remote, status: 'failed' }, { ...local, versionMicros: null })).toBe(
    'stale_local',
  );
  expect(compare({ ...remote, status: 'failed', versionMicros: undefined }, local)).toBe(
    'stale_local',
  );
});

test('a payment of another order and a refund of another payment differ by their link', () => {
  expect(compare({ ...remote, orderKey: 'order:ord_2' }, local)).toBe('link');
  expect(compare({ ...remote, orderKey: undefined }, local)).toBeUndefined();
  const refund = { ...remote, kind: 'refund', paymentId: 'pay_1', orderKey: undefined } as const;
  expect(compare(refund, { ...local, paymentId: 'pay_1' })).toBeUndefined();
  expect(compare(refund, { ...local, paymentId: 'pay_2' })).toBe('link');
  expect(compare({ ...refund, versionMicros: 2_000 }, { ...local, paymentId: 'pay_2' })).toBe(
    'stale_local',
  );
});

test('a row that is older than the ledger is not a difference, and contradicts it when no replica lags that long (rule 2)', () => {
  const older = { ...remote, status: 'processing', versionMicros: 999 };
  const hourMicros = 3_600_000_000;
  expect(compare(older, local)).toBeUndefined();
  expect(contradictsLate(older, local, 999 + hourMicros)).toBe(false);
  expect(contradictsLate(older, local, 1_000 + hourMicros)).toBe(true);
  expect(contradictsLate({ ...older, status: 'succeeded' }, local, 1_000 + hourMicros)).toBe(false);
  expect(contradictsLate({ ...older, versionMicros: 1_000 }, local, 2 * hourMicros)).toBe(false);
});

test('a change counts as missed only when its webhook had two minutes', () => {
  expect(isPastGrace(119_999)).toBe(false);
  expect(isPastGrace(120_000)).toBe(true);
});

describe('a repaired change', () => {
  const judge = (ageMs: number, pendingAgeMs?: number, isManual = false) =>
    judgeRepaired(ageMs, { isManual, pendingAgeMs });

  test('is missed after two minutes, and its webhook is awaited until then', () => {
    expect(judge(119_999)).toEqual({ isMissed: false, isAwaited: true });
    expect(judge(120_000)).toEqual({ isMissed: true, isAwaited: false });
  });

  test('is not missed while an event that waits may have reported it in time', () => {
    expect(judge(121_000, 1_000)).toEqual({ isMissed: false, isAwaited: true });
    expect(judge(121_001, 1_000)).toEqual({ isMissed: true, isAwaited: false });
  });

  test('by a person, is left to the scheduled runs for a day', () => {
    expect(judge(DAY_MS - 1, undefined, true)).toEqual({ isMissed: true, isAwaited: true });
    expect(judge(DAY_MS, undefined, true)).toEqual({ isMissed: true, isAwaited: false });
    expect(judge(2 * DAY_MS, 2 * DAY_MS, true)).toEqual({ isMissed: true, isAwaited: false });
  });
});

test('an event that waits for days hides no loss older than a day and the grace', () => {
  expect(reportedWithinMs(undefined)).toBe(120_000);
  expect(reportedWithinMs(5_000)).toBe(125_000);
  expect(reportedWithinMs(9 * DAY_MS)).toBe(120_000 + DAY_MS);
});

test('a difference between the clocks that changed by a minute means that one was set', () => {
  expect(isClockSet(60_000, undefined)).toBe(false);
  expect(isClockSet(60_000, 1)).toBe(false);
  expect(isClockSet(60_000, 0)).toBe(true);
  expect(isClockSet(-60_000, 0)).toBe(true);
  expect(isClockSet(600_000, 600_000)).toBe(false);
});

test('the age of a change is the time since then by the clock of the service', () => {
  expect(ageOfChangeMs(1_000_000, 3_500_000)).toBe(2_500);
  expect(ageOfChangeMs(3_500_000, 1_000_000)).toBe(0);
});

test('cells cover every status in every currency, and everything last', () => {
  const counts = [
    { status: 'succeeded', currency: 'USD', count: 3 },
    { status: 'expired', currency: 'EUR', count: 2 },
    { status: 'processing', currency: null, count: 4 },
  ];
  const cells = cellsOf(['succeeded', 'failed'], counts);
  expect(cells).toHaveLength(5);
  expect(cells[0]).toEqual({ status: 'succeeded', currency: 'EUR' });
  expect(cells.at(-1)).toEqual({});
  expect(localCount({ status: 'succeeded', currency: 'USD' }, counts)).toBe(3);
  expect(localCount({}, counts)).toBe(9);
});

test('halving ends at the differences, wherever they are (rule 3)', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(9_999), { minLength: 1, maxLength: 400 }),
      fc.nat(),
      (times, pick) => {
        const lostMs = times[pick % times.length] ?? 0;
        const count = (from: number, to: number, all: readonly number[]) =>
          all.filter((time) => time >= from && time <= to).length;
        const ours = times.filter((time) => time !== lostMs);
        const countsOf = (from: number, to: number): Counts => ({
          remote: count(from, to, times),
          local: count(from, to, ours),
          rows: count(from, to, ours),
        });
        const listed: { fromMs: number; toMs: number }[] = [];
        const visit = (span: { fromMs: number; toMs: number }, counts: Counts): void => {
          const step = nextStep(span, counts, 10);
          if (step.kind === 'list') listed.push(span);
          if (step.kind !== 'halve') return;
          const left = countsOf(step.left.fromMs, step.left.toMs);
          visit(step.left, left);
          visit(step.right, restOf(counts, left));
        };
        visit({ fromMs: 0, toMs: 9_999 }, countsOf(0, 9_999));
        expect(listed).toHaveLength(1);
        expect(listed[0]?.fromMs).toBeLessThanOrEqual(lostMs);
        expect(listed[0]?.toMs).toBeGreaterThanOrEqual(lostMs);
      },
    ),
  );
});

test('walks end when the total was seen or two show nothing new, and their number is bounded', () => {
  const once = afterWalk(NO_WALKS, { seen: 5, totalCount: 5 });
  expect(judgeWalks(NO_WALKS)).toBe('again');
  expect(judgeWalks(once)).toBe('complete');
  let quiet = afterWalk(NO_WALKS, { seen: 5, totalCount: undefined });
  expect(judgeWalks(quiet)).toBe('again');
  quiet = afterWalk(quiet, { seen: 5, totalCount: undefined });
  expect(judgeWalks(quiet)).toBe('again');
  quiet = afterWalk(quiet, { seen: 5, totalCount: undefined });
  expect(judgeWalks(quiet)).toBe('complete');
  let restless = NO_WALKS;
  for (let seen = 1; seen < 100 && judgeWalks(restless) === 'again'; seen += 1) {
    restless = afterWalk(restless, { seen, totalCount: seen + 1 });
  }
  expect(judgeWalks(restless)).toBe('unstable');
});

test('a list that shows nothing new below its total is unstable, after three times as many walks', () => {
  let state = afterWalk(NO_WALKS, { seen: 5, totalCount: 6 });
  const verdicts = Array.from({ length: 6 }, () => {
    state = afterWalk(state, { seen: 5, totalCount: 6 });
    return judgeWalks(state);
  });
  expect(verdicts).toEqual([...Array(5).fill('again'), 'unstable']);
  // A walk without a total discards that of an earlier one.
  expect(judgeWalks(afterWalk(state, { seen: 5, totalCount: undefined }))).toBe('complete');
});

test('a list that shows more than its total is complete, and one that changes for 40 walks is unstable', () => {
  const state = { seen: 6, quietWalks: 0, walks: 1, totalCount: 5 };
  expect(judgeWalks(state)).toBe('complete');
  expect(judgeWalks({ ...state, totalCount: 7, walks: 39 })).toBe('again');
  expect(judgeWalks({ ...state, totalCount: 7, walks: 40 })).toBe('unstable');
  // The first walk shows news, also of an empty list.
  expect(afterWalk(NO_WALKS, { seen: 0, totalCount: undefined }).quietWalks).toBe(0);
  // News starts the count of walks without it again.
  expect(afterWalk({ ...state, quietWalks: 3 }, { seen: 7, totalCount: 9 })).toEqual({
    seen: 7,
    quietWalks: 0,
    walks: 2,
    totalCount: 9,
  });
});

test('each instant is in one or two weekly slices, within the span of the week', () => {
  const firstMs = Date.UTC(2026, 10, 22, 3, 40);
  const slots = Array.from({ length: 80 }, (_, n) => firstMs + n * 7 * DAY_MS);
  for (let createdMs = firstMs; createdMs < firstMs + 365 * DAY_MS; createdMs += DAY_MS / 3) {
    const meeting = slots.filter((slotMs) => {
      const { fromMs, toMs } = sliceSpan(slotMs);
      return fromMs <= createdMs && createdMs <= toMs;
    });
    expect([1, 2]).toContain(meeting.length);
    expect(meeting.every((slotMs) => weekSpan(slotMs).fromMs <= createdMs)).toBe(true);
  }
});

test.each<[string, Partial<Local>, boolean]>([
  ['its status', { status: 'failed' }, true],
  ['the stage of a dispute', { stage: 'arbitration' }, true],
  ['its currency', { currency: 'EUR' }, true],
  ['its amount', { amountMinor: 1 }, true],
  ['its captured amount', { capturedMinor: 1 }, true],
  ['its version alone', { versionMicros: 2_000 }, false],
  ['its order alone', { orderKey: 'order:ord_2' }, false],
])('a response that changes %s changes its money: %j', (_what, change, isChanged) => {
  expect(isMoneyChanged(local, { ...local, ...change })).toBe(isChanged);
});

test('a response about a resource that was new changes its money', () => {
  expect(isMoneyChanged(undefined, local)).toBe(true);
});

/** Numbers are the rules of src/reconcile/domain/totals.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterHalving,
  contradictsCell,
  isListingCheaper,
  localCount,
  NO_EFFORT,
  nextStep,
  restOf,
} from '../../../src/reconcile/domain/totals.ts';

const FITS = 80;
const SPAN = { fromMs: 1_000, toMs: 2_000 };
const counts = (remote: number | undefined, local: number, rows = local) => ({
  remote,
  local,
  rows,
});

describe('a span of an unequal cell', () => {
  test('is halved into neighbors that share no instant and omit none (rule 3)', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 1_000_000 }), (fromMs, widthMs) => {
        const span = { fromMs, toMs: fromMs + widthMs };
        const step = nextStep(span, counts(500, 499), FITS);
        if (step.kind !== 'halve') throw new Error(step.kind);
        expect(step.left.fromMs).toBe(span.fromMs);
        expect(step.right.toMs).toBe(span.toMs);
        // Both bounds are included: a row at a shared instant would count in both halves.
        expect(step.right.fromMs).toBe(step.left.toMs + 1);
        expect(step.left.toMs).toBeGreaterThanOrEqual(step.left.fromMs);
        expect(step.right.toMs).toBeGreaterThanOrEqual(step.right.fromMs);
      }),
    );
  });

  test('is listed if it fits on a page, both by the rows of the service and by those of the ledger', () => {
    expect(nextStep(SPAN, counts(FITS, 0), FITS).kind).toBe('list');
    expect(nextStep(SPAN, counts(FITS + 1, 0), FITS).kind).toBe('halve');
    expect(nextStep(SPAN, counts(0, FITS), FITS).kind).toBe('list');
    // A list shows more than the counted cell: all of these rows would be read.
    expect(nextStep(SPAN, counts(0, 1, FITS + 1), FITS).kind).toBe('halve');
  });

  test('is listed if it cannot be halved', () => {
    expect(nextStep({ fromMs: 1_000, toMs: 1_000 }, counts(500, 499), FITS).kind).toBe('list');
  });

  test('is listed if the service sends no count, and skipped if the counts are equal (rule 4)', () => {
    expect(nextStep(SPAN, counts(undefined, 500), FITS).kind).toBe('list');
    expect(nextStep(SPAN, counts(500, 500), FITS).kind).toBe('equal');
    expect(nextStep(SPAN, counts(0, 0), FITS).kind).toBe('equal');
  });
});

test('the counts of the right half are those of the whole less those of the left half', () => {
  expect(restOf(counts(10, 9, 20), counts(4, 4, 5))).toEqual(counts(6, 5, 15));
  expect(restOf(counts(undefined, 9, 20), counts(4, 4, 5)).remote).toBeUndefined();
  expect(restOf(counts(10, 9, 20), counts(undefined, 4, 5)).remote).toBeUndefined();
});

test('a row contradicts a cell only by a field that both have (rule 4)', () => {
  const cell = { status: 'succeeded', currency: 'USD' };
  expect(contradictsCell(cell, cell)).toBe(false);
  expect(contradictsCell(cell, { ...cell, status: 'failed' })).toBe(true);
  expect(contradictsCell(cell, { ...cell, currency: 'EUR' })).toBe(true);
  expect(contradictsCell(cell, { status: undefined, currency: undefined })).toBe(false);
  expect(contradictsCell({}, { status: 'failed', currency: 'EUR' })).toBe(false);
});

test('the count of a cell leaves out other statuses and other currencies', () => {
  const all = [
    { status: 'succeeded', currency: 'USD', count: 1 },
    { status: 'succeeded', currency: 'EUR', count: 10 },
    { status: 'failed', currency: 'USD', count: 100 },
    { status: null, currency: null, count: 1000 },
  ];
  expect(localCount({ status: 'succeeded', currency: 'USD' }, all)).toBe(1);
  expect(localCount({ status: 'failed', currency: 'EUR' }, all)).toBe(0);
  expect(localCount({}, all)).toBe(1111);
});

test('a halving costs a request, and is scattered only if both halves are unequal (rule 5)', () => {
  const [equal, unequal] = [counts(5, 5), counts(5, 4)];
  const effort = afterHalving(NO_EFFORT, unequal, unequal);
  expect(effort).toEqual({ spent: 1, halved: 1, scattered: 1 });
  expect(afterHalving(effort, equal, unequal)).toEqual({ spent: 2, halved: 2, scattered: 1 });
});

describe('listing everything is cheaper (rule 5)', () => {
  const isCheaper = (pending: readonly ReturnType<typeof counts>[], rows: number, effort = {}) =>
    isListingCheaper({ ...NO_EFFORT, ...effort }, { rows, pending, fits: FITS });

  test('if more requests were spent than a listing takes, with a tenth for uneven windows', () => {
    expect(isCheaper([], 10 * FITS, { spent: 11 })).toBe(false);
    expect(isCheaper([], 10 * FITS, { spent: 12 })).toBe(true);
    expect(isCheaper([counts(9, 9)], 10 * FITS, { spent: 11 })).toBe(false);
  });

  test('if the pending spans would take more: one request for each level and span', () => {
    // Eight pages: three levels, and the page that is listed.
    const span = counts(8 * FITS, 8 * FITS - 1);
    expect(isCheaper([span], 10 * FITS, { spent: 7 })).toBe(false);
    expect(isCheaper([span], 10 * FITS, { spent: 8 })).toBe(true);
    expect(isCheaper([span, span], 10 * FITS, { spent: 3 })).toBe(false);
    expect(isCheaper([span, span], 10 * FITS, { spent: 4 })).toBe(true);
    const few = counts(1, 0);
    expect(isCheaper([few], 10 * FITS, { spent: 10 })).toBe(false);
    expect(isCheaper([few], 10 * FITS, { spent: 11 })).toBe(true);
  });

  test('if differences are scattered, so that each level has more spans', () => {
    // Half as many spans more at each level: 1 + 1.5 + 2.25 + 3.375 requests.
    const scattered = { halved: 6, scattered: 4 };
    const span = counts(8 * FITS, 8 * FITS - 1);
    expect(isCheaper([span], 10 * FITS, { ...scattered, spent: 2 })).toBe(false);
    expect(isCheaper([span], 10 * FITS, { ...scattered, spent: 3 })).toBe(true);
  });

  test('if a span without a count has to be listed, with the rows of the ledger', () => {
    const unknown = counts(undefined, 500, 9 * FITS);
    expect(isCheaper([unknown], 10 * FITS, { spent: 1 })).toBe(false);
    expect(isCheaper([unknown], 10 * FITS, { spent: 2 })).toBe(true);
  });
});

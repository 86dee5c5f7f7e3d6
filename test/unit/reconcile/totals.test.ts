/** Numbers are the rules of src/reconcile/domain/totals.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextStep, restOf } from '../../../src/reconcile/domain/totals.ts';

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

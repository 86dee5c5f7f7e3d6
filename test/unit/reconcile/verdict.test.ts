import { expect, test } from 'vitest';
import {
  emptySpanReason,
  foundText,
  VERDICTS,
  verdictOf,
} from '../../../src/reconcile/domain/verdict.ts';

const DONE = { state: 'done', rowsCompared: 5, rowsCounted: 0, found: 0, repaired: 0 } as const;

test('a run is equal only if something was compared and no difference remains (rule 1)', () => {
  expect(verdictOf(DONE)).toBe('equal');
  expect(verdictOf({ ...DONE, found: 2, repaired: 2 })).toBe('equal');
  expect(verdictOf({ ...DONE, found: 2, repaired: 1 })).toBe('different');
  expect(verdictOf({ ...DONE, rowsCounted: 5 })).toBe('equal');
  expect(verdictOf({ ...DONE, rowsCompared: 2, found: 2, repaired: 2 })).toBe('equal');
  expect(verdictOf({ ...DONE, rowsCompared: 0 })).toBe('empty');
  expect(verdictOf({ ...DONE, rowsCompared: 0, found: 1 })).toBe('different');
  expect(verdictOf({ ...DONE, rowsCompared: 0, rowsCounted: 5 })).toBe('equal');
});

test('a run that failed or is unfinished is never equal', () => {
  expect(verdictOf({ ...DONE, state: 'failed' })).toBe('failed');
  expect(verdictOf({ ...DONE, state: 'stopped' })).toBe('stopped');
  for (const state of ['running', 'paused'] as const) {
    expect(verdictOf({ ...DONE, state })).toBe('unfinished');
  }
});

test('every verdict that a run can have is listed, and no other', () => {
  const runs = [DONE, { ...DONE, found: 1 }, { ...DONE, rowsCompared: 0 }];
  const ended = (['failed', 'stopped', 'running'] as const).map((state) => ({ ...DONE, state }));
  expect([...runs, ...ended].map(verdictOf)).toEqual([...VERDICTS]);
});

test('an empty span compares nothing, and has a reason (rule 2)', () => {
  const atMs = Date.parse('2026-11-21T10:00:00Z');
  expect(emptySpanReason({ fromMs: atMs, toMs: atMs + 1 })).toBeUndefined();
  for (const fromMs of [atMs, atMs + 3_600_000]) {
    expect(emptySpanReason({ fromMs, toMs: atMs })).toMatch(/^nothing was compared: .*10:00:00/);
  }
});

test('what a run found is stated with what is left', () => {
  expect(foundText({ found: 0, repaired: 0 })).toBe('nothing found');
  expect(foundText({ found: 3, repaired: 2 })).toBe('3 found, 2 repaired, 1 left');
});

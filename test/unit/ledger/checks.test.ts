/** The problems that `tallyhook verify` reports of events, findings, children and columns, without a database. */
import { describe, expect, test } from 'vitest';
import { inboxProblem } from '../../../src/ledger/domain/checkInbox.ts';
import {
  childProblem,
  findingProblems,
  termProblems,
} from '../../../src/ledger/domain/checkResource.ts';
import { columnProblems } from '../../../src/ledger/domain/checks.ts';
import { inHashOrder, readResource } from '../../../src/ledger/domain/snapshot.ts';

describe('findings', () => {
  const fine = {
    following: ['amount', 'over_capture'],
    shown: ['amount'],
    noted: ['amount'],
    open: ['amount', 'overdue'],
  };

  test('that are derived from the state must be open and marked; others may be either', () => {
    expect(findingProblems(fine)).toEqual([]);
  });

  test.each([
    [{ ...fine, open: [] }, 'the finding amount is not open'],
    [{ ...fine, noted: [] }, 'the row does not list its open finding amount'],
    [{ ...fine, shown: [] }, 'the finding amount is open, but the state does not show it'],
    [{ ...fine, shown: [], noted: ['overdue'], open: [] }, 'the finding overdue is not open'],
  ])('%j: %s', (classes, problem) => {
    expect(findingProblems(classes)).toEqual([problem]);
  });
});

test.each([
  ['is the one that the snapshots show', 1, '1970-01-01T00:00:00.000001Z', []],
  [
    'differs',
    1,
    '1970-01-01T00:00:00.000002Z',
    ['term_since is 1970-01-01T00:00:00.000002Z, not 1970-01-01T00:00:00.000001Z'],
  ],
  ['is not stored, by an earlier version', 1, null, []],
  ['was left beside a status without a term', undefined, '1970-01-01T00:00:00.000002Z', []],
])('the beginning of a term %s', (_what, sinceMicros, term_since, problems) => {
  expect(termProblems(sinceMicros, { term_since })).toEqual(problems);
});

test.each([
  [{ paymentId: 'p', orderKey: 'order:1', parentOrderKey: 'order:1' }, undefined],
  [{ paymentId: null, orderKey: null, parentOrderKey: undefined }, undefined],
  [
    { paymentId: null, orderKey: 'order:1', parentOrderKey: undefined },
    'it names no payment, but is filed under order:1',
  ],
  [
    { paymentId: 'p', orderKey: 'order:1', parentOrderKey: undefined },
    'its payment p is not in the ledger',
  ],
  [
    { paymentId: 'p', orderKey: 'order:1', parentOrderKey: 'order:2' },
    'it is filed under order:1, its payment under order:2',
  ],
])('a child with the place %j: %s', (place, problem) => {
  expect(childProblem({ kind: 'refund', id: 'r', ...place })).toBe(problem);
});

describe('an event', () => {
  const ref = { kind: 'payment', id: 'p' } as const;
  const read = { ref, content: {}, observedMicros: 0, versionAhead: false };
  const snapshot = {
    outcome: 'snapshot',
    ...read,
    labelMismatch: undefined,
    profileId: undefined,
  } as const;
  const done = { isPending: false, isDead: false, hasSnapshot: false, findings: [] };
  const ignored = { class: 'event_ignored', isOpen: true };

  test.each([
    { isPending: true },
    { isDead: true },
    { hasSnapshot: true },
    { findings: [ignored] },
  ])('is accounted for by %j', (account) => {
    expect(inboxProblem({ reading: snapshot, ...done, ...account })).toBeUndefined();
  });

  test('that is readable is not accounted for by a closed finding, or by another finding', () => {
    for (const finding of [
      { class: 'event_ignored', isOpen: false },
      { class: 'link', isOpen: true },
    ]) {
      expect(inboxProblem({ reading: snapshot, ...done, findings: [finding] })).toMatch(
        /was not applied/,
      );
    }
  });

  test('that is unreadable is accounted for by its finding, open or closed', () => {
    const reading = { outcome: 'ignored', contentType: 'x' } as const;
    const dealtWith = { ...ignored, isOpen: false };
    expect(inboxProblem({ reading, ...done, findings: [dealtWith] })).toBeUndefined();
    expect(inboxProblem({ reading, ...done })).toMatch(/no finding explains why/);
  });

  test.each([{ isPending: true }, { isDead: true }, { hasSnapshot: true }])(
    'with a damaged body is always a problem, regardless of what accounts for it: %j',
    (account) => {
      const entry = { reading: { outcome: 'damaged' }, ...done, ...account } as const;
      expect(inboxProblem(entry)).toMatch(/differs from the one/);
    },
  );
});

test('columns compare by value, regardless of notation', () => {
  const stored = { a: '5', b: null, c: ['x'], d: true, e: 'null' };
  expect(columnProblems({ a: 5, b: undefined, c: ['x'], d: true, e: 'null' }, stored)).toEqual([]);
  expect(columnProblems({ a: 6, b: 'null', c: [], d: false, e: null }, stored)).toEqual([
    'a is 5, not 6',
    'b is empty, not null',
    'c is ["x"], not []',
    'd is true, not false',
    'e is null, not empty',
  ]);
});

test('content that the database reordered is restored to the order in which it was hashed', () => {
  const everything = {
    dispute: {
      dispute_id: 'd',
      payment_id: 'p',
      dispute_status: 'dispute_opened',
      dispute_stage: 'dispute',
      amount: '5',
      currency: 'usd',
      updated_at: '2026-11-01T10:00:00.000Z',
      created_at: '2026-11-01T09:00:00.000Z',
      challenge_required_by: '2026-11-08T09:00:00.000Z',
    },
    payment: {
      payment_id: 'p',
      status: 'failed',
      amount: 5,
      currency: 'USD',
      modified_at: '2026-11-01T10:00:00.000Z',
      created: '2026-11-01T09:00:00.000Z',
      metadata: { order_id: 'o' },
      capture_method: 'manual',
      amount_received: 1,
      amount_capturable: 4,
      capture_before: '2026-11-08T09:00:00.000Z',
      unified_code: 'UE_1000',
      unified_message: 'no',
      error_code: 'x',
    },
  };
  for (const object of Object.values(everything)) {
    const reading = readResource(object, Number.MAX_SAFE_INTEGER);
    if (reading.outcome !== 'read') throw new Error(`it was ${reading.outcome}`);
    const shuffled = Object.fromEntries(Object.entries(reading.content).reverse());
    expect(JSON.stringify(inHashOrder(shuffled))).toBe(JSON.stringify(reading.content));
  }
});

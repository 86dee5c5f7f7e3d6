/** The problems that the checks of `tallyhook verify` report, without a database. */
import { describe, expect, test } from 'vitest';
import { inboxProblem } from '../../../src/ledger/domain/checkInbox.ts';
import {
  chainProblems,
  type JournalRow,
  legEnds,
  openAuthorizationProblems,
  type PostingState,
  postedProblems,
} from '../../../src/ledger/domain/checkJournal.ts';
import { orderProblems } from '../../../src/ledger/domain/checkOrder.ts';
import { childProblem, findingProblems } from '../../../src/ledger/domain/checkResource.ts';
import { columnProblems } from '../../../src/ledger/domain/checks.ts';
import { inHashOrder, readResource } from '../../../src/ledger/domain/snapshot.ts';

function row(fields: Partial<JournalRow>): JournalRow {
  return {
    leg: 'captured',
    currency: 'USD',
    seq: 1,
    debit: 'psp.clearing',
    credit: 'order.due',
    amountMinor: 30n,
    previousMinor: 0n,
    cumulativeMinor: 30n,
    ...fields,
  };
}

const back = row({
  seq: 2,
  debit: 'order.due',
  credit: 'psp.clearing',
  previousMinor: 30n,
  cumulativeMinor: 0n,
});

describe('the chain of a leg', () => {
  test('is complete when it grows, and when it shrinks with its accounts swapped', () => {
    expect(chainProblems('payment', [row({}), back])).toEqual([]);
  });

  test.each<[string, JournalRow[], RegExp]>([
    ['does not begin at 1', [row({ seq: 2 })], /begins with row 2/],
    ['skips a number', [row({}), { ...back, seq: 3 }], /row 3 follows row 1/],
    [
      'does not begin at zero',
      [row({ previousMinor: 1n, cumulativeMinor: 31n })],
      /starts at 0.01 USD, but row 0 ended at 0.00 USD/,
    ],
    [
      'does not continue at its previous total',
      [row({}), { ...back, previousMinor: 31n, amountMinor: 31n }],
      /row 2 starts at 0.31 USD, but row 1 ended at 0.30 USD/,
    ],
    ['moves another amount', [row({ amountMinor: 29n })], /row 1 moves 0.29 USD, but goes from/],
    ['goes down the way up', [row({}), row({ ...back, debit: 'psp.clearing' })], /row 2 debits/],
    ['does not exist', [row({ leg: 'invented' })], /this leg does not exist/],
  ])('that %s is broken', (_name, rows, problem) => {
    const problems = chainProblems('payment', rows);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test('each leg and currency has its own chain, and a broken one is reported once', () => {
    const rows = [
      row({ currency: 'EUR', seq: 2 }),
      row({ currency: 'EUR', seq: 4 }),
      row({}),
      row({ leg: 'auth_opened', debit: 'memo.auth_open', credit: 'memo.auth_contra', seq: 3 }),
    ];
    expect(chainProblems('payment', rows)).toEqual([
      'captured EUR: it begins with row 2',
      'auth_opened USD: it begins with row 3',
    ]);
  });
});

function payment(fields: Partial<PostingState>): PostingState {
  return {
    ref: { kind: 'payment', id: 'p' },
    status: 'succeeded',
    authorizedMinor: 0,
    capturedMinor: 30,
    amountMinor: 30,
    currency: 'USD',
    posts: true,
    posted: { USD: { captured: { seq: 1, cumulativeMinor: 30 } } },
    ...fields,
  };
}

describe('the posted amount', () => {
  const ends = legEnds([row({})]);

  test('equals what the state requires and what the journal has', () => {
    expect(postedProblems(payment({}), ends)).toEqual([]);
  });

  test('may have any value while the state is not known enough to post', () => {
    expect(postedProblems(payment({ posts: false, capturedMinor: 7 }), ends)).toEqual([]);
  });

  test('in a currency that the resource no longer has must be zero', () => {
    const moved = payment({ currency: 'EUR', capturedMinor: 0 });
    expect(postedProblems(moved, ends)).toEqual([
      'captured USD: 0.30 USD is posted, but the state requires 0.00 USD',
    ]);
  });

  test('differs from the journal in number or amount', () => {
    expect(postedProblems(payment({}), legEnds([row({}), row({ seq: 2 })]))).toEqual([
      'captured USD: the row has 0.30 USD after row 1, the journal has 0.30 USD after row 2',
    ]);
    expect(postedProblems(payment({ posts: false }), new Map())).toEqual([
      'captured USD: the row has 0.30 USD after row 1, the journal has nothing',
    ]);
  });

  test('leaves nothing authorized for a final payment that posts', () => {
    const hold = row({
      leg: 'auth_opened',
      debit: 'memo.auth_open',
      credit: 'memo.auth_contra',
    });
    const held = legEnds([hold]);
    expect(openAuthorizationProblems(payment({ status: 'cancelled' }), held)).toEqual([
      '0.30 USD is still authorized, although the payment is cancelled',
    ]);
    expect(openAuthorizationProblems(payment({ status: 'requires_capture' }), held)).toEqual([]);
    expect(openAuthorizationProblems(payment({ posts: false }), held)).toEqual([]);
    const released = { ...hold, leg: 'auth_released' };
    expect(openAuthorizationProblems(payment({}), legEnds([hold, released]))).toEqual([]);
  });
});

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

test('parts that add up to more than an exact integer are a problem, not an error', () => {
  const part = {
    kind: 'payment',
    status: 'succeeded',
    stage: undefined,
    currency: 'USD',
    amountMinor: 1,
    authorizedMinor: 0,
    capturedMinor: Number.MAX_SAFE_INTEGER,
  } as const;
  const entry = { orderKey: 'order:1', order: undefined, totals: [] };
  expect(orderProblems(entry, [part, part])).toEqual([
    'its parts add up to more than an exact integer can hold',
  ]);
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

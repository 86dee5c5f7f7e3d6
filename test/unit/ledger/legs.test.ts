/** Tests cite the invariants at the head of src/ledger/domain/legs.ts as L1, L2 … */
import { describe, expect, test } from 'vitest';
import {
  isTakenBack,
  LEGS,
  type Leg,
  legsOf,
  type MoneyState,
  type Posted,
  postedAfter,
  type Transfer,
  targetsIn,
  targetsOf,
  transferBy,
} from '../../../src/ledger/domain/legs.ts';
import { foldSnapshots, type ResourceState } from '../../../src/ledger/domain/merge.ts';
import { observe } from '../../support/observations.ts';

const STATE: ResourceState = foldSnapshots([
  {
    ...observe({
      status: 'succeeded',
      currency: 'USD',
      amountMinor: 100,
      amountReceivedMinor: 100,
    }),
    epoch: 0,
  },
]);
const NOTHING: Posted = {};

/** Moves every leg to its target. */
function transfersFor(state: ResourceState, posted: Posted): readonly Transfer[] {
  const legs: Readonly<Record<string, Leg>> = LEGS[state.ref.kind];
  return targetsIn(state, posted).flatMap(({ currency, leg, targetMinor }) => {
    const last = posted[currency]?.[leg] ?? { seq: 0, cumulativeMinor: 0 };
    const movedMinor = targetMinor - last.cumulativeMinor;
    const accounts = legs[leg];
    if (!accounts) throw new Error(`unknown leg ${leg}`);
    return movedMinor === 0 ? [] : [transferBy(movedMinor, { leg, currency, accounts, last })];
  });
}

describe('L1: targets', () => {
  const of = (kind: MoneyState['ref']['kind'], fields: Partial<MoneyState>) =>
    targetsOf({ ...STATE, ref: { kind, id: 'x' }, ...fields });

  test.each([
    ['requires_capture', { auth_opened: 100, auth_consumed: 0, auth_released: 0, captured: 0 }],
    ['expired', { auth_opened: 100, auth_consumed: 0, auth_released: 100, captured: 0 }],
    ['cancelled', { auth_opened: 100, auth_consumed: 0, auth_released: 100, captured: 0 }],
  ])('a hold of which nothing was captured is released at its end: %s', (status, targets) => {
    const hold = { status, authorizedMinor: 100, capturedMinor: 0 };
    expect(of('payment', hold)).toEqual({ ...targets, capture_voided: 0 });
  });

  test.each([
    ['partially_captured_and_capturable', 0, 0],
    ['partially_captured', 70, 0],
    ['cancelled_post_capture', 70, 30],
  ])(
    'the captured part is consumed; of %s %i are released and %i voided',
    (status, released, voided) => {
      const hold = { status, authorizedMinor: 100, capturedMinor: 30 };
      expect(of('payment', hold)).toEqual({
        auth_opened: 100,
        auth_consumed: 30,
        auth_released: released,
        captured: 30,
        capture_voided: voided,
      });
    },
  );

  test('a capture above the hold consumes only the hold', () => {
    const over = { authorizedMinor: 80, capturedMinor: 100 };
    expect(of('payment', over)).toMatchObject({
      auth_consumed: 80,
      auth_released: 0,
      captured: 100,
    });
  });

  test.each([
    ['opened', 100, 0],
    ['challenged', 100, 0],
    ['lost', 100, 100],
    ['accepted', 100, 100],
    ['expired', 100, 100],
    ['won', 0, 0],
    ['cancelled', 0, 0],
  ])(
    'a dispute that is %s holds %i and writes off %i; an inquiry by the bank does neither',
    (status, held, lost) => {
      for (const at of [
        { stage: 'dispute' },
        { stage: 'pre_arbitration' },
        { stage: 'arbitration' },
        {},
      ]) {
        expect(of('dispute', { status, ...at })).toEqual({ held, written_off: lost });
      }
      expect(of('dispute', { status, stage: 'pre_dispute' })).toEqual({ held: 0, written_off: 0 });
    },
  );

  const NO_PAYOUT = { initiated: 0, delivered: 0, returned: 0, reversed: 0 };
  test.each([
    ['requires_fulfillment', NO_PAYOUT],
    ['initiated', { ...NO_PAYOUT, initiated: 100 }],
    ['pending', { ...NO_PAYOUT, initiated: 100 }],
    ['success', { ...NO_PAYOUT, initiated: 100, delivered: 100 }],
    ['reversed', { ...NO_PAYOUT, initiated: 100, delivered: 100, reversed: 100 }],
    ['failed', { ...NO_PAYOUT, initiated: 100, returned: 100 }],
    ['cancelled', { ...NO_PAYOUT, initiated: 100, returned: 100 }],
    ['expired', { ...NO_PAYOUT, initiated: 100, returned: 100 }],
    ['ineligible', { ...NO_PAYOUT, initiated: 100, returned: 100 }],
  ])('a payout that is %s', (status, targets) => {
    expect(of('payout', { status })).toEqual(targets);
  });
});

describe('L2: transfers post the difference', () => {
  const posted = postedAfter(NOTHING, transfersFor(STATE, NOTHING));

  test('computed without changing earlier postings', () => {
    const before = structuredClone(posted);
    postedAfter(posted, transfersFor({ ...STATE, capturedMinor: 40 }, posted));
    expect(posted).toEqual(before);
  });

  test('nothing if the state is posted already', () => {
    expect(transfersFor(STATE, posted)).toEqual([]);
  });

  test('with the accounts swapped if the target falls', () => {
    expect(transfersFor({ ...STATE, capturedMinor: 40 }, posted)).toEqual([
      {
        leg: 'captured',
        currency: 'USD',
        seq: 2,
        debit: 'order.due',
        credit: 'psp.clearing',
        amountMinor: 60,
        previousMinor: 100,
        cumulativeMinor: 40,
      },
    ]);
  });

  test('everything is reversed in a currency that the resource no longer has', () => {
    const transfers = transfersFor({ ...STATE, currency: 'EUR', capturedMinor: 90 }, posted);
    expect(transfers).toMatchObject([
      { currency: 'USD', seq: 2, debit: 'order.due', amountMinor: 100, cumulativeMinor: 0 },
      { currency: 'EUR', seq: 1, debit: 'psp.clearing', amountMinor: 90, cumulativeMinor: 90 },
    ]);
    const back = postedAfter(posted, transfers);
    expect(transfersFor(STATE, back)).toMatchObject([
      { currency: 'USD', seq: 3, amountMinor: 100 },
      { currency: 'EUR', seq: 2, amountMinor: 90, cumulativeMinor: 0 },
    ]);
  });
});

test('L3: while the state is not known enough, nothing is posted and nothing is reversed', () => {
  const posted = postedAfter(NOTHING, transfersFor(STATE, NOTHING));
  for (const known of [NOTHING, posted]) {
    expect(transfersFor({ ...STATE, capturedMinor: 40, posts: false }, known)).toEqual([]);
    const { currency: _, ...unknown } = STATE;
    expect(transfersFor({ ...unknown, capturedMinor: 40 }, known)).toEqual([]);
  }
});

test('the legs of an account are those that debit it and those that credit it', () => {
  expect(legsOf('order.due')).toEqual(['captured', 'capture_voided']);
  expect(legsOf('refund.in_flight')).toEqual(['requested', 'settled', 'released']);
  expect(legsOf('loss.disputes')).toEqual(['written_off']);
});

test.each([
  ['as its leg does', 'captured', 'psp.clearing', false],
  ['the other account of its leg', 'captured', 'order.due', true],
  ['the other account of a leg that goes the other way', 'capture_voided', 'psp.clearing', true],
  ['an account, for a leg that does not exist', 'invented', 'order.due', false],
])('a transfer that debits %s takes back what it moved: %s of %s, %s', (_what, leg, debit, is) => {
  expect(isTakenBack({ kind: 'payment', leg, debit })).toBe(is);
});

/** The rules of payments (src/sandbox/domain/payment.ts) over random commands. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINAL_STATUSES, isKnownStatus } from '../../../src/contract/index.ts';
import { testAmount } from '../../../src/sandbox/domain/outcomes.ts';
import {
  approvePayment,
  cancelPayment,
  capturePayment,
  confirmPayment,
  createPayment,
  endAction,
  type PaymentState,
  rejectPayment,
  runPaymentDue,
  updatePayment,
} from '../../../src/sandbox/domain/payment.ts';

const SEED = Number(process.env.SANDBOX_SEED ?? Date.now() % 1_000_000);
const START_MS = Date.UTC(2026, 10, 21);

const number = '4242424242424242';
const CARD = {
  card: { card_number: number, card_exp_month: '12', card_exp_year: '39', card_cvc: '123' },
};
const METHOD = { payment_method: 'card', payment_method_data: CARD, billing: {} };

type Step = (state: PaymentState, nowMs: number) => PaymentState;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.integer({ min: 1, max: 1_000_000 }).map(
    (amount): Step =>
      (state, nowMs) =>
        capturePayment(state, { amount_to_capture: amount }, { nowMs }).value ?? state,
  ),
  fc.constantFrom<Step>(
    (state, nowMs) => capturePayment(state, {}, { nowMs }).value ?? state,
    (state, nowMs) => cancelPayment(state, undefined, nowMs).value ?? state,
    (state, nowMs) => approvePayment(state, nowMs).value ?? state,
    (state, nowMs) => rejectPayment(state, nowMs).value ?? state,
    (state, nowMs) => endAction(state, 'complete', nowMs).value ?? state,
    (state, nowMs) => endAction(state, 'fail', nowMs).value ?? state,
    (state, nowMs) => updatePayment(state, { amount: 1234 }, nowMs).value ?? state,
    (state, nowMs) =>
      confirmPayment(state, METHOD, { nowMs, hostedPageUrl: 'http://hosted' }).value ?? state,
    runPaymentDue,
  ),
);

const created = fc
  .record({
    amount: fc.oneof(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.constantFrom(
        testAmount('review'),
        testAmount('processing'),
        testAmount('customer_action'),
      ),
    ),
    capture_method: fc.constantFrom('automatic', 'manual', 'manual_multiple'),
    confirm: fc.boolean(),
  })
  .map((fields) => {
    const { value: state } = createPayment(
      { currency: 'USD', profile_id: 'p', return_url: 'http://shop', ...METHOD, ...fields },
      {
        paymentId: 'pay',
        merchantId: 'm',
        clientSecret: 's',
        hostedPageUrl: 'http://hosted',
        nowMs: START_MS,
      },
    );
    if (state === undefined) throw new Error('a valid payment was rejected');
    return state;
  });

test(`the rules for amounts, times and final statuses hold after every step (SANDBOX_SEED=${SEED})`, () => {
  fc.assert(
    fc.property(created, fc.array(step, { maxLength: 12 }), (first, steps) => {
      let state = first;
      for (const [index, apply] of steps.entries()) {
        const before = state;
        // Several within one millisecond, too.
        state = apply(before, START_MS + Math.floor(index / 3) * 1000);
        expect(isKnownStatus('payment', state.status)).toBe(true);
        // Rule 2.
        expect(state.amount_received + state.amount_capturable).toBeLessThanOrEqual(state.amount);
        // Rule 4.
        expect(state.amount_received).toBeGreaterThanOrEqual(before.amount_received);
        if (FINAL_STATUSES.payment.has(state.status)) {
          expect(state.amount_capturable).toBe(0);
          expect(state.hidden.due).toBeUndefined();
        }
        // Rule 3.
        if (state !== before) expect(state.modified_at > before.modified_at).toBe(true);
        expect(JSON.stringify(state)).not.toContain(number);
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test('a rule never mutates its input', () => {
  fc.assert(
    fc.property(created, step, (state, apply) => {
      const copy = structuredClone(state);
      apply(state, START_MS + 1000);
      expect(state).toEqual(copy);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

test('another method leaves nothing of the card that was sent first', () => {
  const context = { nowMs: START_MS, hostedPageUrl: 'http://hosted' };
  const { value: unconfirmed } = createPayment(
    {
      currency: 'USD',
      profile_id: 'p',
      amount: 100,
      return_url: 'http://shop',
      ...METHOD,
      payment_method_type: 'credit',
    },
    { ...context, paymentId: 'pay', merchantId: 'm', clientSecret: 's' },
  );
  expect(unconfirmed?.payment_method_data).toMatchObject({ card: { last4: '4242' } });
  if (unconfirmed === undefined) throw new Error('a valid payment was rejected');
  const { value: state } = confirmPayment(unconfirmed, { payment_method: 'wallet' }, context);
  expect(state).toMatchObject({ status: 'requires_action', payment_method: 'wallet' });
  expect(state?.payment_method_data).toBeUndefined();
  expect(state?.payment_method_type).toBeUndefined();
  const { value: same } = confirmPayment(unconfirmed, { payment_method: 'card' }, context);
  expect(same).toMatchObject({ status: 'succeeded', payment_method_data: { card: {} } });
});

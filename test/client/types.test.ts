/**
 * A wrong field name is a compile error. `npm run typecheck` checks this: it fails if a wrong line
 * below compiles. The tests here check that the same lines are rejected at run time.
 */
import { expect, test } from 'vitest';
import { createAdminApiClient } from '../../src/adminApi/index.ts';
import {
  type CreatePaymentRequest,
  type CreatePayoutRequest,
  createClient,
  type PaymentServiceClient,
  verifyTallyhookWebhook,
} from '../../src/client/index.ts';
import { createPaymentRequest, createPayoutRequest, problemsOf } from '../../src/contract/index.ts';

const ORDER = { amount: 1, currency: 'USD', profile_id: 'pro_1' } as const;
const CARD = {
  card_number: '4242424242424242',
  card_exp_month: '01',
  card_exp_year: '2030',
  card_cvc: '123',
};

const WRONG_PAYMENTS: readonly CreatePaymentRequest[] = [
  // @ts-expect-error: the field is payment_id
  { ...ORDER, paymentId: 'order-1' },
  // @ts-expect-error: must not be used
  { ...ORDER, items: [] },
  // @ts-expect-error: must not be used
  { ...ORDER, line_items: [] },
  // @ts-expect-error: must not be used
  { ...ORDER, cart_items: [] },
  // @ts-expect-error: an amount is a number of minor units
  { ...ORDER, amount: '1.00' },
  // @ts-expect-error: required
  { amount: 1, currency: 'USD' },
  // @ts-expect-error: no such capture method
  { ...ORDER, capture_method: 'later' },
  // @ts-expect-error: the field is card_exp_month
  { ...ORDER, payment_method_data: { card: { ...CARD, expiry_month: '01' } } },
  // @ts-expect-error: the field is name
  { ...ORDER, order_details: [{ product_name: 'Tea', quantity: 1, amount: 1 }] },
];

const NO_BIC = { payout_method_type: 'sepa', iban: 'DE1' } as const;
const WRONG_PAYOUTS: readonly CreatePayoutRequest[] = [
  // @ts-expect-error: payouts have no payment_id
  { amount: 1, currency: 'EUR', payment_id: 'p' },
  // @ts-expect-error: sepa needs a bic
  { amount: 1, currency: 'EUR', payout_method_data: { bank_transfer: NO_BIC } },
];

test('what does not compile is rejected at run time, too', () => {
  for (const wrong of WRONG_PAYMENTS)
    expect(problemsOf(createPaymentRequest, wrong)).not.toEqual([]);
  for (const wrong of WRONG_PAYOUTS) expect(problemsOf(createPayoutRequest, wrong)).not.toEqual([]);
});

/** Never called: it is enough that it compiles. */
const responsesHaveTypes = async (client: PaymentServiceClient): Promise<void> => {
  const { payment, retrySafe } = await client.payments.create(ORDER);
  const status: string | null | undefined = payment.status;
  const isSafe: boolean = retrySafe;
  const { captured_at: capturedAt } = await client.payments.capture('p', { amount_to_capture: 1 });
  const dispute = await client.disputes.retrieve('d');
  // @ts-expect-error: the amount of a dispute may be text
  const amount: number = dispute.amount;
  // @ts-expect-error: a capture takes no reason
  await client.payments.capture('p', { cancellation_reason: 'x' });
  // @ts-expect-error: no such lane
  await client.payments.retrieve('p', {}, { lane: 'fast' });
  void [status, isSafe, capturedAt, amount];
};
void responsesHaveTypes;

/**
 * Never called. A shop passes on settings that it may not have, and its TypeScript may have
 * `exactOptionalPropertyTypes`, as this project does.
 */
const optionsMayBeUndefined = async (shop: {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}): Promise<void> => {
  const { timeoutMs, signal } = shop;
  const service = createClient({
    baseUrl: 'https://payments.example',
    apiKey: 'snd_1',
    retry: { totalTimeoutMs: timeoutMs },
    budget: undefined,
    time: undefined,
    random: undefined,
  });
  await service.payments.retrieve('p', {}, { lane: undefined, signal, onResponse: undefined });
  await service.payments.capture('p', {}, { singleAttempt: undefined, signal });
  const api = createAdminApiClient({ baseUrl: 'https://api.example', token: 't', timeoutMs });
  await api.getOrder({ order_id: 'o' }, { signal, timeoutMs });
  const options = { secret: 'whsec_AAAA', toleranceMs: timeoutMs, nowMs: undefined };
  verifyTallyhookWebhook({ body: '', headers: {} }, options);
};
void optionsMayBeUndefined;

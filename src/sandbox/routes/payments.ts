/** Routes for payments. service-interface.md §4.3. */
import { ENDPOINTS } from '../../contract/index.ts';
import type { Entry } from '../books.ts';
import { defaultBilling } from '../domain/customer.ts';
import { accept, type Decision, refuseUnknown, refuseValue } from '../domain/decision.ts';
import {
  approvePayment,
  cancelPayment,
  capturePayment,
  confirmPayment,
  createPayment,
  type NewPayment,
  type PaymentContext,
  type PaymentInput,
  type PaymentState,
  rejectPayment,
  updatePayment,
} from '../domain/payment.ts';
import { answerView } from '../faults/views.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { existsAlready } from './existing.ts';
import type { Handlers } from './handler.ts';
import { hostedPageUrl } from './hostedPageUrl.ts';
import { listPage } from './list.ts';
import { retrieve } from './retrieve.ts';

type Payments =
  | 'createPayment'
  | 'updatePayment'
  | 'confirmPayment'
  | 'retrievePayment'
  | 'listPayments'
  | 'listPaymentsByQuery'
  | 'capturePayment'
  | 'cancelPayment'
  | 'approvePayment'
  | 'rejectPayment';

export const PAYMENT_HANDLERS: Handlers<Payments> = {
  createPayment: (call, services) => {
    const paymentId = call.input.payment_id ?? randomId('pay_');
    const input = { ...call.input, payment_id: paymentId };
    return services.books.write(async (entry) => {
      // Before the rules: what they judge may have changed since the first request was taken, and a
      // refusal of the second would say that nothing was attempted. Of a race the insert decides.
      const isTaken = (await entry.lock('payment', paymentId)) !== undefined;
      if (isTaken) return paymentExists(services, paymentId);
      const begun = await beginPayment(services, entry, input);
      if (begun.refusal) return begun;
      const made = await entry.insert({ kind: 'payment', state: begun.state });
      return made ? accept(withSecret(made.state, services)) : paymentExists(services, paymentId);
    });
  },

  updatePayment: ({ params, input }, services) =>
    change(services, params.payment_id, withSecret, async (state, nowMs, entry) => {
      const customer = await customerOf(entry, input.customer_id);
      if (customer.refusal) return customer;
      return updatePayment(state, input, nowMs, customer.state.billing);
    }),

  confirmPayment: ({ params, input }, services) =>
    change(services, params.payment_id, withSecret, (state, nowMs) =>
      confirmPayment(state, input, {
        ...contextOf(services, state.payment_id),
        nowMs,
      }),
    ),

  retrievePayment: async ({ params }, services) =>
    (await retrieve(services, 'payment', params.payment_id)) ?? unknownPayment(params.payment_id),

  listPayments: ({ input }, services) => listPage(services, { kind: 'payment', ...input }),

  listPaymentsByQuery: ({ input }, services) => listPage(services, { kind: 'payment', ...input }),

  capturePayment: ({ params, input }, services) =>
    change(services, params.payment_id, only('capturePayment'), (state, nowMs) =>
      capturePayment(state, input, nowMs),
    ),

  cancelPayment: ({ params, input }, services) =>
    change(services, params.payment_id, only('cancelPayment'), (state, nowMs) =>
      cancelPayment(state, input.cancellation_reason, nowMs),
    ),

  approvePayment: ({ params }, services) =>
    change(services, params.payment_id, only('approvePayment'), approvePayment),

  rejectPayment: ({ params }, services) =>
    change(services, params.payment_id, whole, rejectPayment),
};

/** A payment with its customer's billing, not written yet. */
export async function beginPayment(
  services: Services,
  entry: Entry,
  input: PaymentInput & { readonly payment_id: string },
): Promise<Decision<PaymentState>> {
  const { merchantId, profileId } = services.account;
  if (input.profile_id !== profileId) {
    return refuseValue('profile_id: names no business profile of this account');
  }
  const customer = await customerOf(entry, input.customer_id);
  if (customer.refusal) return customer;
  const { payment_id: paymentId } = input;
  return createPayment(input, {
    paymentId,
    defaultBilling: customer.state.billing,
    merchantId,
    clientSecret: randomId(`${paymentId}_secret_`),
    ...contextOf(services, paymentId),
    nowMs: entry.nowMs,
  });
}

/** What the faults and the sandbox's address give to the rules. */
function contextOf(services: Services, paymentId: string): Omit<NewPaymentFaults, 'nowMs'> {
  const dice = services.faults.dice();
  const { payments } = services.faults.current();
  const isLate = dice('processing_first', paymentId) < payments.processing_first;
  const hasSurcharge = dice('surcharge', paymentId) < payments.surcharge;
  return {
    hostedPageUrl: hostedPageUrl(services, paymentId),
    decidesAfterMs: isLate ? payments.processing_ms : undefined,
    surchargePercent: hasSurcharge ? payments.surcharge_percent : undefined,
  };
}

type NewPaymentFaults = PaymentContext & Pick<NewPayment, 'surchargePercent'>;

function paymentExists(services: Services, paymentId: string): Decision<never> {
  return existsAlready(services, `A payment with payment_id ${paymentId} exists already`);
}

export function unknownPayment(paymentId: string): Decision<never> {
  return refuseUnknown(`No payment has the id ${paymentId}`);
}

/**
 * The customer that a payment is to name must exist.
 * service-interface.md §4.3.1, `customer_id`.
 */
async function customerOf(
  entry: Entry,
  customerId: string | undefined,
): Promise<Decision<{ readonly billing: object | undefined }>> {
  if (customerId === undefined) return accept({ billing: undefined });
  const customer = await entry.customer(customerId);
  if (customer === undefined) return refuseValue('customer_id: names no customer of this account');
  return accept({ billing: defaultBilling(customer) });
}

type Rule = (
  state: PaymentState,
  nowMs: number,
  entry: Entry,
) => Decision<PaymentState> | Promise<Decision<PaymentState>>;
type View = (state: PaymentState, services: Services) => object;

/** Applies a rule to a payment under its lock, and answers with the view of what became of it. */
export function change(
  services: Services,
  paymentId: string,
  view: View,
  rule: Rule,
): Promise<Decision<object>> {
  return services.books.write(async (entry) => {
    const state = await entry.lock('payment', paymentId);
    if (state === undefined) return unknownPayment(paymentId);
    const changed = await rule(state, entry.nowMs, entry);
    if (changed.refusal) return changed;
    const saved = await entry.save({ kind: 'payment', state: changed.state });
    return accept(view(saved.state, services));
  });
}

export const whole: View = (state, { faults }) =>
  answerView({ kind: 'payment', state }, faults.spoiled());
const withSecret: View = (state, services) => ({
  ...whole(state, services),
  client_secret: state.hidden.client_secret,
});

/** The fields that the contract shows for an endpoint's answer. */
function only(name: 'capturePayment' | 'cancelPayment' | 'approvePayment'): View {
  const fields = Object.keys(ENDPOINTS[name].response.shape);
  return (state, { faults }) => {
    const shown = answerView({ kind: 'payment', state }, faults.spoiled());
    return Object.fromEntries(fields.map((field) => [field, shown[field]]));
  };
}

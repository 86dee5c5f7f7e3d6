/** Routes for payments. service-interface.md §4.3. */
import { ENDPOINTS } from '../../contract/index.ts';
import { defaultBilling } from '../domain/customer.ts';
import { accept, type Decision, rejectUnknown, rejectValue } from '../domain/decision.ts';
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
import { responseView } from '../faults/views.ts';
import { randomId } from '../ids.ts';
import type { ResourceTransaction } from '../resourceWriter.ts';
import type { Services } from '../services.ts';
import { alreadyExists } from './existing.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';
import { hostedPageUrl } from './pageUrls.ts';
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
    return services.resources.write(async (transaction) => {
      // Before the rules: their inputs may have changed since the first request, and a rejection of the
      // second would mean that nothing was attempted. The insert decides a race.
      const exists = (await transaction.lock('payment', paymentId)) !== undefined;
      if (exists) return paymentExists(services, paymentId);
      const begun = await beginPayment(services, transaction, input);
      if (begun.rejection) return begun;
      const made = await transaction.insert({ kind: 'payment', state: begun.value });
      return made ? accept(withSecret(made.state, services)) : paymentExists(services, paymentId);
    });
  },

  updatePayment: ({ params, input }, services) =>
    changePayment(services, params.payment_id, withSecret, async (state, nowMs, transaction) => {
      const customer = await customerOf(transaction, input.customer_id);
      if (customer.rejection) return customer;
      return updatePayment(state, input, nowMs, customer.value.billing);
    }),

  confirmPayment: ({ params, input }, services) =>
    changePayment(services, params.payment_id, withSecret, (state, nowMs) =>
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
    changePayment(services, params.payment_id, responseFields('capturePayment'), (state, nowMs) => {
      const { payment_id: paymentId } = state;
      const rate = services.faults.current().payments.no_part_status;
      const staysRequired = services.faults.random()('no_part_status', paymentId) < rate;
      return capturePayment(state, input, { nowMs, staysRequired });
    }),

  cancelPayment: ({ params, input }, services) =>
    changePayment(services, params.payment_id, responseFields('cancelPayment'), (state, nowMs) =>
      cancelPayment(state, input.cancellation_reason, nowMs),
    ),

  approvePayment: ({ params }, services) =>
    changePayment(services, params.payment_id, responseFields('approvePayment'), approvePayment),

  rejectPayment: ({ params }, services) =>
    changePayment(services, params.payment_id, fullView, rejectPayment),
};

/** Creates a payment with its customer's billing, without writing it. */
export async function beginPayment(
  services: Services,
  transaction: ResourceTransaction,
  input: PaymentInput & { readonly payment_id: string },
): Promise<Decision<PaymentState>> {
  const { merchantId, profileId } = services.account;
  if (input.profile_id !== profileId) {
    return rejectValue('profile_id: not a business profile of this account');
  }
  const customer = await customerOf(transaction, input.customer_id);
  if (customer.rejection) return customer;
  const { payment_id: paymentId } = input;
  return createPayment(input, {
    paymentId,
    defaultBilling: customer.value.billing,
    merchantId,
    clientSecret: randomId(`${paymentId}_secret_`),
    ...contextOf(services, paymentId),
    nowMs: transaction.nowMs,
  });
}

/** The inputs of the rules that come from the faults and the sandbox's address. */
function contextOf(services: Services, paymentId: string): Omit<NewPaymentFaults, 'nowMs'> {
  const random = services.faults.random();
  const { payments } = services.faults.current();
  const isLate = random('processing_first', paymentId) < payments.processing_first;
  const hasSurcharge = random('surcharge', paymentId) < payments.surcharge;
  const isPart = random('partial_authorization', paymentId) < payments.partial_authorization;
  const cancelsLapsed = random('lapse_cancels', paymentId) < payments.lapse_cancels;
  return {
    hostedPageUrl: hostedPageUrl(services, paymentId),
    decidesAfterMs: isLate ? payments.processing_ms : undefined,
    surchargePercent: hasSurcharge ? payments.surcharge_percent : undefined,
    processor:
      isPart || cancelsLapsed
        ? {
            authorizedPercent: isPart ? payments.authorized_percent : undefined,
            cancelsLapsed: cancelsLapsed || undefined,
          }
        : undefined,
  };
}

type NewPaymentFaults = PaymentContext & Pick<NewPayment, 'surchargePercent' | 'processor'>;

function paymentExists(services: Services, paymentId: string): Decision<never> {
  return alreadyExists(services, `A payment with payment_id ${paymentId} exists already`);
}

export function unknownPayment(paymentId: string): Decision<never> {
  return rejectUnknown(`No payment has the id ${paymentId}`);
}

/**
 * The billing of the customer that a payment names; the customer must exist.
 * service-interface.md §4.3.1, `customer_id`.
 */
async function customerOf(
  transaction: ResourceTransaction,
  customerId: string | undefined,
): Promise<Decision<{ readonly billing: object | undefined }>> {
  if (customerId === undefined) return accept({ billing: undefined });
  const customer = await transaction.customer(customerId);
  if (customer === undefined) return rejectValue('customer_id: not a customer of this account');
  return accept({ billing: defaultBilling(customer) });
}

type Rule = (
  state: PaymentState,
  nowMs: number,
  transaction: ResourceTransaction,
) => Decision<PaymentState> | Promise<Decision<PaymentState>>;
type View = (state: PaymentState, services: Services) => object;

/** Applies a rule to a payment under its lock, and returns the view of the changed payment. */
export function changePayment(
  services: Services,
  paymentId: string,
  view: View,
  rule: Rule,
): Promise<Decision<object>> {
  return services.resources.write(async (transaction) => {
    const state = await transaction.lock('payment', paymentId);
    if (state === undefined) return unknownPayment(paymentId);
    const changed = await rule(state, transaction.nowMs, transaction);
    if (changed.rejection) return changed;
    const saved = await transaction.save({ kind: 'payment', state: changed.value });
    return accept(view(saved.state, services));
  });
}

export const fullView: View = (state, { faults }) =>
  responseView({ kind: 'payment', state }, faults.context());
const withSecret: View = (state, services) => ({
  ...fullView(state, services),
  client_secret: state.hidden.client_secret,
});

/** A view with the fields that the contract has for an endpoint's response. */
function responseFields(name: 'capturePayment' | 'cancelPayment' | 'approvePayment'): View {
  const fields = Object.keys(ENDPOINTS[name].response.shape);
  return (state, { faults }) => {
    const shown = responseView({ kind: 'payment', state }, faults.context());
    return Object.fromEntries(fields.map((field) => [field, shown[field]]));
  };
}

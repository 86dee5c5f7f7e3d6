/** Interface document, section Endpoints, "Payments". */
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
  type PaymentState,
  rejectPayment,
  updatePayment,
} from '../domain/payment.ts';
import { show, showWithSecret } from '../domain/resource.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { readResource } from '../store/resources.ts';
import { existsAlready } from './existing.ts';
import type { Handlers } from './handler.ts';
import { hostedPageUrl } from './hostedPageUrl.ts';
import { listPage } from './list.ts';

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
  createPayment: async ({ input }, services) => {
    const { account, books } = services;
    if (input.profile_id !== account.profileId) {
      return refuseValue('profile_id: names no business profile of this account');
    }
    const paymentId = input.payment_id ?? randomId('pay_');
    return await books.write(async (entry) => {
      const customer = await customerOf(entry, input.customer_id);
      if (customer.refusal) return customer;
      const created = createPayment(input, {
        paymentId,
        defaultBilling: customer.state.billing,
        merchantId: account.merchantId,
        clientSecret: randomId(`${paymentId}_secret_`),
        hostedPageUrl: hostedPageUrl(services, paymentId),
        nowMs: entry.nowMs,
      });
      if (created.refusal) return created;
      const resource = { kind: 'payment', state: created.state } as const;
      const isNew = await entry.insert(resource);
      return isNew
        ? accept(showWithSecret(resource))
        : existsAlready(services, `A payment with payment_id ${paymentId} exists already`);
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
        nowMs,
        hostedPageUrl: hostedPageUrl(services, state.payment_id),
      }),
    ),

  retrievePayment: async ({ params }, { db }) => {
    const found = await readResource(db, 'payment', params.payment_id);
    return found ? accept(show(found)) : unknownPayment(params.payment_id);
  },

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

export function unknownPayment(paymentId: string): Decision<never> {
  return refuseUnknown(`No payment has the id ${paymentId}`);
}

/**
 * The customer that a payment is to name must exist.
 * Interface document, section Endpoints, "Create Payment", `customer_id`.
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
type View = (state: PaymentState) => object;

/** Applies a rule to a payment under its lock, and answers with the view of what became of it. */
export function change(
  { books }: Services,
  paymentId: string,
  view: View,
  rule: Rule,
): Promise<Decision<object>> {
  return books.write(async (entry) => {
    const state = await entry.lock('payment', paymentId);
    if (state === undefined) return unknownPayment(paymentId);
    const changed = await rule(state, entry.nowMs, entry);
    if (changed.refusal) return changed;
    await entry.save({ kind: 'payment', state: changed.state });
    return accept(view(changed.state));
  });
}

export const whole: View = (state) => show({ kind: 'payment', state });
const withSecret: View = (state) => showWithSecret({ kind: 'payment', state });

/** The fields that the document shows for an endpoint's answer. */
function only(name: 'capturePayment' | 'cancelPayment' | 'approvePayment'): View {
  const fields = Object.keys(ENDPOINTS[name].response.shape);
  return (state) => {
    const shown = show({ kind: 'payment', state });
    return Object.fromEntries(fields.map((field) => [field, shown[field]]));
  };
}

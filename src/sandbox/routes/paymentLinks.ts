/** Routes for payment links. service-interface.md §4.7 and §4.10. */
import { accept, type Decision, rejectUnknown, rejectValue } from '../domain/decision.ts';
import type { PaymentState } from '../domain/payment.ts';
import {
  createPaymentLink,
  type PaymentLinkState,
  paymentLinkStatus,
} from '../domain/paymentLink.ts';
import { isoBound } from '../domain/time.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import type { Handlers } from './handler.ts';
import { pageBounds, pageOf } from './pageOf.ts';
import { LINK_PATH } from './pageUrls.ts';

type PaymentLinks = 'createPaymentLink' | 'retrievePaymentLink' | 'listPaymentLinks';

export const PAYMENT_LINK_HANDLERS: Handlers<PaymentLinks> = {
  createPaymentLink: ({ input }, services) =>
    services.resources.write(async (transaction, tx): Promise<Decision<object>> => {
      const { customer_id: customerId } = input;
      if (customerId !== undefined && (await transaction.customer(customerId)) === undefined) {
        return rejectValue('customer_id: not a customer of this account');
      }
      const id = randomId('plink_');
      // The sandbox sends no mail; the address is stored with the link.
      const { send_email: _, ...fields } = input;
      const created = createPaymentLink(fields, {
        id,
        merchantId: services.account.merchantId,
        url: `${services.baseUrl()}${LINK_PATH}/${id}`,
        nowMs: transaction.nowMs,
      });
      if (created.rejection) return created;
      await tx.insertPaymentLink(created.value);
      return accept(await showLink(services, created.value));
    }),

  retrievePaymentLink: async ({ params }, services) => {
    const found = await services.store.readPaymentLink(params.payment_link_id);
    return found ? accept(await showLink(services, found)) : unknownLink(params.payment_link_id);
  },

  listPaymentLinks: async ({ input }, services) => {
    const { created_gte: from, created_lte: to } = input;
    const bounds = {
      ...pageBounds(input),
      from: from && isoBound(from, Math.ceil),
      to: to && isoBound(to, Math.floor),
    };
    const rows = await services.store.listPaymentLinks(bounds);
    const shown = await Promise.all(rows.map((row) => showLink(services, row)));
    return pageOf(shown, await services.store.countPaymentLinks(bounds), bounds.offset);
  },
};

async function showLink(services: Services, state: PaymentLinkState): Promise<object> {
  const last = await lastPaymentOf(services, state);
  return { ...state, status: paymentLinkStatus(state, last, services.shownClock.nowMs()) };
}

/** The last payment that was created by a link; undefined if there is none. */
export async function lastPaymentOf(
  { store }: Services,
  { payment_id: id }: PaymentLinkState,
): Promise<PaymentState | undefined> {
  const found = id === undefined ? undefined : await store.readResource('payment', id);
  return found?.kind === 'payment' ? found.state : undefined;
}

export function unknownLink(id: string): Decision<never> {
  return rejectUnknown(`No payment link has the id ${id}`);
}

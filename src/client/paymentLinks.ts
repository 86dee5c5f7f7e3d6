/** Calls about payment links. service-interface.md §4.7. */
import type { Page } from '../contract/lists.ts';
import type {
  CreatePaymentLinkRequest,
  ListPaymentLinksRequest,
} from '../contract/requests/paymentLinks.ts';
import type { PaymentLink } from '../contract/resources/paymentLink.ts';
import type { Calls } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. A link is never created twice by repeating. */
export interface PaymentLinkCalls {
  /** Creates a link: `link_to_pay` of the answer is a page where a customer pays. */
  create: (request: CreatePaymentLinkRequest, options?: CallOptions) => Promise<PaymentLink>;
  /** Reads a link, and which payment was last made by it. */
  retrieve: (paymentLinkId: string, options?: CallOptions) => Promise<PaymentLink>;
  /** One page, newest first. */
  list: (filter?: ListPaymentLinksRequest, options?: CallOptions) => Promise<Page<PaymentLink>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListPaymentLinksRequest, options?: CallOptions) => AsyncIterable<PaymentLink>;
}

export function createPaymentLinkCalls({ one, page }: Calls): PaymentLinkCalls {
  const list: PaymentLinkCalls['list'] = (filter = {}, options) =>
    page('listPaymentLinks', { body: filter }, options);
  return {
    create: (body, options) => one('createPaymentLink', { body }, options),
    retrieve: (payment_link_id, options) =>
      one('retrievePaymentLink', { params: { payment_link_id } }, options),
    list,
    iterate: createIterate('listPaymentLinks', list, ({ payment_link_id }) => payment_link_id),
  };
}

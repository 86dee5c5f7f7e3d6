/** Payment link calls. service-interface.md §4.7. */
import type { Page } from '../contract/lists.ts';
import type {
  CreatePaymentLinkRequest,
  ListPaymentLinksRequest,
} from '../contract/requests/paymentLinks.ts';
import type { PaymentLink } from '../contract/resources/paymentLink.ts';
import type { Calls } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. A retry never creates a second link. */
export interface PaymentLinkCalls {
  /** Creates a link: `link_to_pay` is the page where a customer pays. */
  create: (request: CreatePaymentLinkRequest, options?: CallOptions) => Promise<PaymentLink>;
  /** Retrieves a link, with the last payment made by it. */
  retrieve: (paymentLinkId: string, options?: CallOptions) => Promise<PaymentLink>;
  /** One page, newest first. */
  list: (filter?: ListPaymentLinksRequest, options?: CallOptions) => Promise<Page<PaymentLink>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListPaymentLinksRequest, options?: CallOptions) => AsyncIterable<PaymentLink>;
}

export function createPaymentLinkCalls({ call, page }: Calls): PaymentLinkCalls {
  const list: PaymentLinkCalls['list'] = (filter = {}, options) =>
    page('listPaymentLinks', { body: filter }, options);
  return {
    create: (body, options) => call('createPaymentLink', { body }, options),
    retrieve: (payment_link_id, options) =>
      call('retrievePaymentLink', { params: { payment_link_id } }, options),
    list,
    iterate: createIterate('listPaymentLinks', list, ({ payment_link_id }) => payment_link_id),
  };
}

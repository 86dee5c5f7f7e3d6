/** Endpoints of payment links. service-interface.md §4.7 and §4.10. */
import { listOf } from '../lists.ts';
import * as requests from '../requests/paymentLinks.ts';
import { paymentLinkSchema } from '../resources/paymentLink.ts';
import {
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  paymentLinkParams,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;

export const PAYMENT_LINK_ENDPOINTS = {
  createPaymentLink: {
    ...base,
    method: 'POST',
    path: '/payment_link',
    summary: 'Create a payment link',
    params: noParams,
    body: requests.createPaymentLinkRequest,
    response: paymentLinkSchema,
    errors: [
      { status: 400, code: 'IR_04', when: 'expiry has passed, or the customer does not exist.' },
    ],
    repetition: ONCE,
  },
  retrievePaymentLink: {
    ...base,
    method: 'GET',
    path: '/payment_link/:payment_link_id',
    summary: 'Retrieve a payment link',
    params: paymentLinkParams,
    response: paymentLinkSchema,
    errors: [notFound('payment link')],
    repetition: SAFE,
  },
  listPaymentLinks: {
    ...base,
    method: 'POST',
    path: '/payment_link/list',
    summary: 'List payment links, newest first',
    params: noParams,
    body: requests.listPaymentLinksRequest,
    response: listOf(paymentLinkSchema),
    item: paymentLinkSchema,
    errors: [],
    repetition: SAFE,
  },
} as const satisfies Record<string, Endpoint>;

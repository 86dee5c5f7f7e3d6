/** Endpoints of refunds. service-interface.md §4.5 and §4.10. */
import { listOf } from '../lists.ts';
import { retrieveQuery } from '../requests/payments.ts';
import * as requests from '../requests/refunds.ts';
import { refundSchema } from '../resources/refund.ts';
import {
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  refundParams,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;

export const REFUND_ENDPOINTS = {
  createRefund: {
    ...base,
    method: 'POST',
    path: '/refunds',
    summary: 'Refund a payment fully or partially',
    params: noParams,
    body: requests.createRefundRequest,
    response: refundSchema,
    errors: [
      { status: 400, code: 'IR_12', when: 'The payment has the maximum number of refunds.' },
      { status: 400, code: 'IR_13', when: 'Refunds would exceed what was captured.' },
      { status: 400, code: 'IR_14', when: "The payment's status does not allow a refund." },
      notFound('payment'),
      { status: 409, code: 'HE_01', when: 'A refund with this refund_id exists.' },
    ],
    repetition: { kind: 'findable', key: 'refund_id' },
  },
  updateRefund: {
    ...base,
    method: 'POST',
    path: '/refunds/:refund_id',
    summary: "Update a refund's reason or metadata",
    params: refundParams,
    body: requests.updateRefundRequest,
    response: refundSchema,
    errors: [notFound('refund')],
    repetition: ONCE,
  },
  retrieveRefund: {
    ...base,
    method: 'GET',
    path: '/refunds/:refund_id',
    summary: 'Retrieve a refund',
    params: refundParams,
    query: retrieveQuery,
    response: refundSchema,
    errors: [notFound('refund')],
    repetition: SAFE,
  },
  listRefunds: {
    ...base,
    method: 'POST',
    path: '/refunds/list',
    summary: 'List refunds by a filter',
    params: noParams,
    body: requests.listRefundsRequest,
    response: listOf(refundSchema),
    item: refundSchema,
    errors: [],
    repetition: SAFE,
  },
} as const satisfies Record<string, Endpoint>;

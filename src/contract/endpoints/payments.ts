/** Endpoints of payments. service-interface.md §4.3. */
import { paymentListOf } from '../lists.ts';
import * as requests from '../requests/payments.ts';
import { paymentSchema } from '../resources/payment.ts';
import {
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  paymentParams,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const notNow = (action: string) =>
  ({
    status: 400,
    code: 'IR_16',
    when: `The payment's status does not allow it to be ${action}.`,
  }) as const;

const base = { success: 200, keys: SECRET_KEYS } as const;
const onPayment = { ...base, params: paymentParams };
const missing = notFound('payment');
const unknownCustomer = {
  status: 400,
  code: 'IR_04',
  when: 'The customer does not exist.',
} as const;

export const PAYMENT_ENDPOINTS = {
  createPayment: {
    ...base,
    method: 'POST',
    path: '/payments',
    summary: 'Create a payment, and authorize it if `confirm` is true',
    params: noParams,
    body: requests.createPaymentRequest,
    response: paymentSchema,
    errors: [
      unknownCustomer,
      {
        status: 409,
        code: 'HE_01',
        when: 'A payment with this payment_id exists: retrieve it. Services of this family also return 400 or 422.',
      },
    ],
    repetition: { kind: 'keyed', key: 'payment_id' },
  },
  updatePayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id',
    summary: 'Update a payment that is not confirmed',
    body: requests.updatePaymentRequest,
    response: paymentSchema,
    errors: [unknownCustomer, missing, notNow('updated')],
    repetition: ONCE,
  },
  confirmPayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id/confirm',
    summary: 'Authorize a payment that was created without `confirm`',
    body: requests.confirmPaymentRequest,
    response: paymentSchema,
    errors: [missing, notNow('confirmed')],
    repetition: ONCE,
  },
  retrievePayment: {
    ...onPayment,
    method: 'GET',
    path: '/payments/:payment_id',
    summary: 'Retrieve a payment',
    query: requests.retrieveQuery,
    response: paymentSchema,
    errors: [missing],
    repetition: SAFE,
  },
  listPayments: {
    ...base,
    method: 'POST',
    path: '/payments/list',
    summary: 'List payments by a filter, newest first',
    params: noParams,
    body: requests.listPaymentsRequest,
    response: paymentListOf(paymentSchema),
    item: paymentSchema,
    errors: [],
    repetition: SAFE,
  },
  listPaymentsByQuery: {
    ...base,
    method: 'GET',
    path: '/payments/list',
    summary: 'List payments by the same filter as query parameters, newest first',
    params: noParams,
    query: requests.listPaymentsRequest,
    response: paymentListOf(paymentSchema),
    item: paymentSchema,
    errors: [],
    repetition: SAFE,
  },
  capturePayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id/capture',
    summary: 'Capture an authorized payment fully or partially',
    body: requests.capturePaymentRequest,
    response: paymentSchema.pick({
      payment_id: true,
      status: true,
      amount: true,
      amount_received: true,
      amount_capturable: true,
      currency: true,
      capture_method: true,
      captured_at: true,
    }),
    errors: [
      { status: 400, code: 'IR_04', when: 'amount_to_capture exceeds amount_capturable.' },
      { status: 400, code: 'IR_14', when: 'The payment is not capturable.' },
      missing,
      { status: 409, code: 'IR_14', when: 'The payment is already fully captured or cancelled.' },
    ],
    repetition: ONCE,
  },
  cancelPayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id/cancel',
    summary: 'Cancel a payment that is not fully captured',
    body: requests.cancelPaymentRequest,
    response: paymentSchema.pick({
      payment_id: true,
      status: true,
      amount: true,
      currency: true,
      cancellation_reason: true,
      cancelled_at: true,
    }),
    errors: [notNow('cancelled'), missing],
    repetition: ONCE,
  },
  approvePayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id/approve',
    summary: 'Approve a payment in manual review',
    response: paymentSchema.pick({
      payment_id: true,
      status: true,
      amount: true,
      currency: true,
      captured_at: true,
    }),
    errors: [notNow('approved'), missing],
    repetition: ONCE,
  },
  rejectPayment: {
    ...onPayment,
    method: 'POST',
    path: '/payments/:payment_id/reject',
    summary: 'Reject a payment in manual review',
    response: paymentSchema,
    errors: [notNow('rejected'), missing],
    repetition: ONCE,
  },
} as const satisfies Record<string, Endpoint>;

/** Endpoints of payouts. service-interface.md §4.8 and §4.10. */
import { listOf } from '../lists.ts';
import { retrieveQuery } from '../requests/payments.ts';
import * as requests from '../requests/payouts.ts';
import { payoutSchema } from '../resources/payout.ts';
import {
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  payoutParams,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;
const onPayout = { ...base, params: payoutParams, response: payoutSchema };
const missing = notFound('payout');

const notNow = (action: string) =>
  ({
    status: 422,
    code: 'IR_06',
    when: `The payout's status does not allow it to be ${action}.`,
  }) as const;

export const PAYOUT_ENDPOINTS = {
  createPayout: {
    ...base,
    method: 'POST',
    path: '/payouts/create',
    summary: 'Create a payout',
    params: noParams,
    body: requests.createPayoutRequest,
    response: payoutSchema,
    errors: [],
    repetition: ONCE,
  },
  updatePayout: {
    ...onPayout,
    method: 'PUT',
    path: '/payouts/:payout_id',
    summary: 'Replace a payout that is not confirmed',
    body: requests.updatePayoutRequest,
    errors: [missing, notNow('updated')],
    repetition: ONCE,
  },
  confirmPayout: {
    ...onPayout,
    method: 'POST',
    path: '/payouts/:payout_id/confirm',
    summary: 'Confirm a payout',
    body: requests.confirmPayoutRequest,
    errors: [
      {
        status: 400,
        code: 'IR_16',
        when: "The payout's status does not allow it to be confirmed.",
      },
      missing,
    ],
    repetition: ONCE,
  },
  fulfillPayout: {
    ...onPayout,
    method: 'POST',
    path: '/payouts/:payout_id/fulfill',
    summary: 'Send the money of a confirmed payout',
    errors: [missing, notNow('fulfilled')],
    repetition: ONCE,
  },
  cancelPayout: {
    ...onPayout,
    method: 'POST',
    path: '/payouts/:payout_id/cancel',
    summary: 'Cancel a payout that has not arrived',
    errors: [missing, notNow('cancelled')],
    repetition: ONCE,
  },
  retrievePayout: {
    ...onPayout,
    method: 'GET',
    path: '/payouts/:payout_id',
    summary: 'Retrieve a payout',
    query: retrieveQuery,
    errors: [missing],
    repetition: SAFE,
  },
  listPayouts: {
    ...base,
    method: 'POST',
    path: '/payouts/list',
    summary: 'List payouts by a filter',
    params: noParams,
    body: requests.listPayoutsRequest,
    response: listOf(payoutSchema),
    item: payoutSchema,
    errors: [],
    repetition: SAFE,
  },
} as const satisfies Record<string, Endpoint>;

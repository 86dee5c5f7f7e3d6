/** Endpoints of disputes. service-interface.md §4.10. */
import { listOf } from '../lists.ts';
import { listDisputesQuery } from '../requests/disputes.ts';
import { disputeSchema } from '../resources/dispute.ts';
import {
  disputeParams,
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;

export const DISPUTE_ENDPOINTS = {
  retrieveDispute: {
    ...base,
    method: 'GET',
    path: '/disputes/:dispute_id',
    summary: 'Retrieve a dispute',
    params: disputeParams,
    response: disputeSchema,
    errors: [notFound('dispute')],
    repetition: SAFE,
  },
  listDisputes: {
    ...base,
    method: 'GET',
    path: '/disputes/list',
    summary: 'List disputes by a filter',
    params: noParams,
    query: listDisputesQuery,
    response: listOf(disputeSchema),
    item: disputeSchema,
    errors: [],
    repetition: SAFE,
  },
  acceptDispute: {
    ...base,
    method: 'POST',
    path: '/disputes/accept/:dispute_id',
    summary: 'Accept a dispute and give up its amount',
    params: disputeParams,
    response: disputeSchema,
    errors: [
      {
        status: 400,
        code: 'HE_03',
        when: 'The dispute is not open, or its stage does not allow acceptance.',
      },
      notFound('dispute'),
    ],
    repetition: ONCE,
  },
} as const satisfies Record<string, Endpoint>;

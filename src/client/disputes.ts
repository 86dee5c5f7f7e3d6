/** Calls about disputes. Interface document, section Endpoints, "Other routes". */
import type { Page } from '../contract/lists.ts';
import type { ListDisputesQuery } from '../contract/requests/disputes.ts';
import type { Dispute } from '../contract/resources/dispute.ts';
import type { Calls } from './calls.ts';
import { walkPages } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. */
export interface DisputeCalls {
  retrieve: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
  /** One page. */
  list: (filter?: ListDisputesQuery, options?: CallOptions) => Promise<Page<Dispute>>;
  /** All pages; see paginate.ts for what a walk can and cannot show. */
  iterate: (filter?: ListDisputesQuery, options?: CallOptions) => AsyncIterable<Dispute>;
  /** Gives the disputed amount up, for good. */
  accept: (disputeId: string, options?: CallOptions) => Promise<Dispute>;
}

export function createDisputeCalls({ one, page }: Calls): DisputeCalls {
  const on = (dispute_id: string) => ({ params: { dispute_id } });
  const list: DisputeCalls['list'] = (filter = {}, options) =>
    page('listDisputes', { query: filter }, options);
  return {
    retrieve: (id, options) => one('retrieveDispute', on(id), options),
    list,
    iterate: (filter = {}, options) =>
      walkPages({
        operation: 'listDisputes',
        limit: filter.limit,
        offset: filter.offset,
        fetchPage: (limit, offset) => list({ ...filter, limit, offset }, options),
        idOf: ({ dispute_id }) => dispute_id,
      }),
    accept: (id, options) => one('acceptDispute', on(id), options),
  };
}

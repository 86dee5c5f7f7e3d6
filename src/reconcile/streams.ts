/** The four lists, each read by the same call. */
import type { CallOptions, Page, PaymentServiceClient } from '../client/index.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import type { Span } from './domain/windows.ts';

export const STREAMS = ['payments', 'refunds', 'disputes', 'payouts'] as const;
export type Stream = (typeof STREAMS)[number];

export const KIND_OF = {
  payments: 'payment',
  refunds: 'refund',
  disputes: 'dispute',
  payouts: 'payout',
} as const satisfies Record<Stream, ResourceKind>;

export interface ListRequest {
  readonly span: Span;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Reads one page of a list. The contract names only the filters of payments. Those of the other lists
 * are the family's, so a service may refuse or ignore them.
 * @throws PaymentServiceError
 */
export function fetchPage(
  client: PaymentServiceClient,
  stream: Stream,
  { span, limit, offset }: ListRequest,
  options: CallOptions,
): Promise<Page<object>> {
  const from = new Date(span.fromMs).toISOString();
  const to = new Date(span.toMs).toISOString();
  const page = { limit, offset };
  switch (stream) {
    case 'payments':
      return client.payments.list({ ...page, created_gte: from, created_lte: to }, options);
    case 'refunds':
      return client.refunds.list({ ...page, start_time: from, end_time: to }, options);
    case 'disputes':
      return client.disputes.list({ ...page, start_time: from, end_time: to }, options);
    case 'payouts':
      return client.payouts.list({ ...page, start_time: from, end_time: to }, options);
  }
}

export const STREAM_OF = {
  payment: 'payments',
  refund: 'refunds',
  dispute: 'disputes',
  payout: 'payouts',
} as const satisfies Record<ResourceKind, Stream>;

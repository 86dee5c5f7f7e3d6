/** Estimates how long the first import of a span will take. */
import type { CallOptions, PaymentServiceClient } from '../client/index.ts';
import { rowsWanted, type Span } from './domain/windows.ts';
import { fetchPage, type Stream } from './streams.ts';

export interface Estimate {
  readonly rows: number;
  readonly requests: number;
  /** Full minutes that the rate limit requires; undefined while no limit is known. */
  readonly minutes: number | undefined;
}

/** Windows with more rows than a page are requested twice. */
const SURPLUS = 1.1;
const LARGEST_PAGE = 100;

/**
 * Requests how many rows a span has.
 * @returns undefined where the service sends no totals
 * @throws PaymentServiceError
 */
export async function estimateImport(
  client: PaymentServiceClient,
  stream: Stream,
  span: Span,
  facts: { readonly options: CallOptions; readonly requestsPerMinute: number | undefined },
): Promise<Estimate | undefined> {
  const page = await fetchPage(client, stream, { span, limit: 1, offset: 0 }, facts.options);
  const { totalCount: rows } = page;
  if (rows === undefined) return undefined;
  const requests = Math.ceil((rows / rowsWanted(LARGEST_PAGE)) * SURPLUS) + 1;
  const { requestsPerMinute } = facts;
  const minutes =
    requestsPerMinute === undefined ? undefined : Math.floor(requests / requestsPerMinute);
  return { rows, requests, minutes };
}

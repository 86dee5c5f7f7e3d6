/** How long reading a span for the first time will take, before it is begun. */
import type { CallOptions, PaymentServiceClient } from '../client/index.ts';
import { rowsWanted, type Span } from './domain/windows.ts';
import { fetchPage, type Stream } from './streams.ts';

export interface Estimate {
  readonly rows: number;
  readonly requests: number;
  /** Undefined while nothing limits the rate: the service has not told its limit yet. */
  readonly minutes: number | undefined;
}

/** Windows that hold more than a page are asked for twice. */
const SURPLUS = 1.1;
const LARGEST_PAGE = 100;

/**
 * Asks how many rows a span has.
 * @returns undefined where the service tells no totals
 * @throws PaymentServiceError
 */
export async function estimateOf(
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
    requestsPerMinute === undefined ? undefined : Math.ceil(requests / requestsPerMinute);
  return { rows, requests, minutes };
}

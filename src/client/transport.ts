/** One request to the service with its key, and what its response states about rate, time and retries. */
import { API_KEY_HEADER, RATE_LIMIT_HEADERS } from '../contract/limits.ts';
import {
  exchange,
  type HttpExchange,
  type HttpFailure,
  type HttpResponse,
  readRetryAfter,
} from '../platform/httpExchange.ts';
import { type RateReading, readRate } from './domain/rate.ts';
import { redactKey } from './redact.ts';

/** The request to send. */
export type HttpRequest = Omit<HttpExchange, 'headers'>;

/** Settings of one attempt. */
export interface TransportSettings {
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
}

/** A complete response. */
export interface ServiceResponse {
  readonly kind: 'response';
  readonly httpStatus: number;
  /** The body as JSON; its text if it is not JSON, and undefined if it is empty. */
  readonly body: unknown;
  readonly rate: RateReading;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  /** The service's clock, from `Date`, in whole seconds. */
  readonly serviceTimeMs: number | undefined;
}

/** The result of one request. */
export type AttemptResult = ServiceResponse | HttpFailure;

/**
 * Sends one request.
 * @throws nothing that a request can fail with; the caller checks `settings.signal` itself.
 */
export async function sendOnce(
  request: HttpRequest,
  settings: TransportSettings,
): Promise<AttemptResult> {
  const headers = { [API_KEY_HEADER]: settings.apiKey };
  const result = await exchange({ ...request, headers }, settings);
  return result.kind === 'response' ? readResponse(result, settings) : result;
}

function readResponse(
  { httpStatus, headers, body }: HttpResponse,
  { apiKey, nowMs }: TransportSettings,
): ServiceResponse {
  const retryAfterMs = readRetryAfter(headers, nowMs());
  const rate = readRate(
    {
      limit: headers.get(RATE_LIMIT_HEADERS.limit),
      remaining: headers.get(RATE_LIMIT_HEADERS.remaining),
      reset: headers.get(RATE_LIMIT_HEADERS.reset),
      date: headers.get('date'),
      retryAfterMs,
    },
    httpStatus === 429,
    nowMs(),
  );
  return {
    kind: 'response',
    httpStatus,
    body,
    rate,
    retryAfterMs,
    requestId: readRequestId(headers.get('x-request-id') ?? headers.get('request-id'), apiKey),
    serviceTimeMs: readDate(headers.get('date')),
  };
}

function readDate(text: string | null): number | undefined {
  const timeMs = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function readRequestId(text: string | null, apiKey: string): string | undefined {
  const isId = text !== null && /^[\x21-\x7e]{1,200}$/.test(text);
  return isId ? redactKey(text, apiKey) : undefined;
}

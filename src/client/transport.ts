/**
 * One HTTP request and its result.
 *
 * 1. Redirects are not followed: they would send the key to another host.
 * 2. A response is read up to a size limit and within the attempt's timeout. Only a complete
 *    response counts.
 * 3. The description of a failure contains neither the key nor the body.
 */
import { API_KEY_HEADER, RATE_LIMIT_HEADERS } from '../contract/limits.ts';
import { toError } from '../platform/errors.ts';
import { type RateReading, readRate } from './domain/rate.ts';
import { redactKey } from './redact.ts';

/** A page of a hundred payments with every field stays far below this. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The request to send. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** JSON text, or a form with a file; undefined for no body. */
  readonly body: string | FormData | undefined;
}

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
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: unknown;
  readonly rate: RateReading;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  /** The service's clock, from `Date`, in whole seconds. */
  readonly serviceTimeMs: number | undefined;
}

/** The result of one request. */
export type AttemptResult =
  | ServiceResponse
  /** `notSent`: no connection was made. `lost`: no complete response arrived. */
  | { readonly kind: 'notSent' | 'lost'; readonly reason: string };

/** Error codes of Node.js and its HTTP client for a connection that was never made. */
const CONNECT_FAILURES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Sends one request.
 * @throws nothing that a request can fail with; the caller checks `settings.signal` itself.
 */
export async function sendOnce(
  request: HttpRequest,
  settings: TransportSettings,
): Promise<AttemptResult> {
  const attempt = new AbortController();
  const cancel = (): void => attempt.abort();
  const timer = setTimeout(cancel, settings.timeoutMs);
  settings.signal.addEventListener('abort', cancel);
  if (settings.signal.aborted) cancel();
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        accept: 'application/json',
        // A form sets its own content type, with the boundary of its parts.
        ...(request.body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        [API_KEY_HEADER]: settings.apiKey,
      },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: attempt.signal,
    });
    return await readResponse(response, settings);
  } catch (thrown) {
    const code = innermostCode(thrown);
    return attempt.signal.aborted
      ? { kind: 'lost', reason: `no response within ${settings.timeoutMs} ms` }
      : { kind: CONNECT_FAILURES.has(code) ? 'notSent' : 'lost', reason: String(code) };
  } finally {
    clearTimeout(timer);
    settings.signal.removeEventListener('abort', cancel);
  }
}

async function readResponse(
  response: Response,
  { apiKey, nowMs }: TransportSettings,
): Promise<ServiceResponse> {
  const { headers, status: httpStatus } = response;
  const text = await readText(response);
  const rate = readRate(
    {
      limit: headers.get(RATE_LIMIT_HEADERS.limit),
      remaining: headers.get(RATE_LIMIT_HEADERS.remaining),
      reset: headers.get(RATE_LIMIT_HEADERS.reset),
      date: headers.get('date'),
    },
    httpStatus === 429,
    nowMs(),
  );
  return {
    kind: 'response',
    httpStatus,
    body: parseJson(text),
    rate,
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
    requestId: readRequestId(headers.get('x-request-id') ?? headers.get('request-id'), apiKey),
    serviceTimeMs: readDate(headers.get('date')),
  };
}

/** @throws Error when the connection breaks or the response exceeds the size limit. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error('the response is too large');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readRetryAfter(text: string | null): number | undefined {
  return text !== null && /^\d{1,5}$/.test(text) ? Number(text) * 1000 : undefined;
}

function readDate(text: string | null): number | undefined {
  const timeMs = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function readRequestId(text: string | null, apiKey: string): string | undefined {
  const isId = text !== null && /^[\x21-\x7e]{1,200}$/.test(text);
  return isId ? redactKey(text, apiKey) : undefined;
}

/**
 * Node.js wraps the cause of a failed request once or twice; the innermost code is the most
 * specific.
 */
function innermostCode(thrown: unknown): unknown {
  const { cause, message } = toError(thrown);
  const code = (thrown as { code?: unknown } | null)?.code;
  if (cause === undefined) return typeof code === 'string' ? code : message;
  return innermostCode(cause);
}

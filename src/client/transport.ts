/**
 * One HTTP request and its answer, whatever comes of it.
 *
 * 1. Redirects are not followed: the key would go to whoever the redirect names.
 * 2. An answer is read up to a bound, within the attempt's time, and only a whole one counts.
 * 3. What is said about a failure never holds the key or the body.
 */
import { API_KEY_HEADER, RATE_LIMIT_HEADERS } from '../contract/limits.ts';
import { toError } from '../platform/errors.ts';
import { type RateReading, readRate } from './domain/rate.ts';
import { withoutKey } from './redact.ts';

/** A page of a hundred payments with everything on them stays far below this. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** What is sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** JSON text, or a form with a file; undefined for none. */
  readonly body: string | FormData | undefined;
}

/** What is needed to send anything. */
export interface TransportSettings {
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
}

/** A whole answer. */
export interface Answer {
  readonly kind: 'answer';
  readonly httpStatus: number;
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown;
  readonly rate: RateReading;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  /** The service's time of day, from `Date`; in whole seconds. */
  readonly serviceTimeMs: number | undefined;
}

/** What came of one request. */
export type AttemptResult =
  | Answer
  /** `notSent`: no connection was made. `lost`: no whole answer came back. */
  | { readonly kind: 'notSent' | 'lost'; readonly reason: string };

/** Failures to connect at all, as Node and its HTTP client name them. */
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
 * @throws nothing for what can happen to a request; the caller looks at `settings.signal` itself.
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
        // A form says its own, with the mark that divides its parts.
        ...(request.body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        [API_KEY_HEADER]: settings.apiKey,
      },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: attempt.signal,
    });
    return await readAnswer(response, settings);
  } catch (thrown) {
    const code = codeOf(thrown);
    return attempt.signal.aborted
      ? { kind: 'lost', reason: `no answer within ${settings.timeoutMs} ms` }
      : { kind: CONNECT_FAILURES.has(code) ? 'notSent' : 'lost', reason: String(code) };
  } finally {
    clearTimeout(timer);
    settings.signal.removeEventListener('abort', cancel);
  }
}

async function readAnswer(
  response: Response,
  { apiKey, nowMs }: TransportSettings,
): Promise<Answer> {
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
    kind: 'answer',
    httpStatus,
    body: parseJson(text),
    rate,
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
    requestId: readRequestId(headers.get('x-request-id') ?? headers.get('request-id'), apiKey),
    serviceTimeMs: readDate(headers.get('date')),
  };
}

/** @throws Error when the connection breaks, or past the bound. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
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
  return isId ? withoutKey(text, apiKey) : undefined;
}

/** Node wraps the cause of a failed request, once or twice; the innermost code tells most. */
function codeOf(thrown: unknown): unknown {
  const { cause, message } = toError(thrown);
  const code = (thrown as { code?: unknown } | null)?.code;
  if (cause === undefined) return typeof code === 'string' ? code : message;
  return codeOf(cause);
}

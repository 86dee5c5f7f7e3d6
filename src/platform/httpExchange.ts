/**
 * One HTTP request and its result.
 *
 * 1. Redirects are not followed: they would send the credentials to another host.
 * 2. A response is read up to a size limit and within the timeout. Only a complete response counts.
 * 3. The description of a failure contains neither a header nor the body.
 */
import { errorCode } from './errors.ts';

/** A page of a hundred rows with every field stays far below this. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or a form with a file; undefined for no body. */
  readonly body: string | FormData | undefined;
}

/** A complete response. */
export interface HttpResponse {
  readonly kind: 'response';
  readonly httpStatus: number;
  readonly headers: Headers;
  /** The body as JSON; its text if it is not JSON, and undefined if it is empty. */
  readonly body: unknown;
}

/** `notSent`: no connection was made. `lost`: no complete response arrived. */
export interface HttpFailure {
  readonly kind: 'notSent' | 'lost';
  readonly reason: string;
}

/** Error codes of Node.js and its HTTP client for a connection that was never made. */
const CONNECT_FAILURES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Sends one request.
 * @throws nothing that a request can fail with; the caller checks `signal` itself.
 */
export async function exchange(
  request: HttpExchange,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HttpResponse | HttpFailure> {
  const attempt = new AbortController();
  const cancel = (): void => attempt.abort();
  const timer = setTimeout(cancel, timeoutMs);
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        accept: 'application/json',
        // A form sets its own content type, with the boundary of its parts.
        ...(request.body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: attempt.signal,
    });
    const { headers, status: httpStatus } = response;
    return { kind: 'response', httpStatus, headers, body: parseJson(await readText(response)) };
  } catch (thrown) {
    return attempt.signal.aborted
      ? { kind: 'lost', reason: `no response within ${timeoutMs} ms` }
      : failureOf(innermostOf(thrown));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * The delay that a response requests, from `Retry-After`: seconds or a time, RFC 9110 section 10.2.3. A time is
 * compared with the response's own `Date`, so that no second clock decides.
 * @param nowMs for a response without `Date`; undefined: its time is not used
 */
export function readRetryAfter(headers: Headers, nowMs?: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = readHttpDate(text);
  const sentMs = readHttpDate(headers.get('date')) ?? nowMs;
  return atMs === undefined || sentMs === undefined ? undefined : Math.max(0, atMs - sentMs);
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, and `Sun Nov  6 08:49:37 1994`, which has no zone. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w: -]+$/;

function readHttpDate(text: string | null): number | undefined {
  if (text === null || !HTTP_DATE.test(text)) return undefined;
  const timeMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
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
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Calls of the system on an open connection: a host can become unreachable after the request arrived. */
const OPEN_CONNECTION: ReadonlySet<unknown> = new Set(['read', 'write']);

function failureOf(thrown: unknown): HttpFailure {
  if (!(thrown instanceof Error)) return { kind: 'lost', reason: String(thrown) };
  const code = errorCode(thrown) || thrown.message;
  const isOpen = 'syscall' in thrown && OPEN_CONNECTION.has(thrown.syscall);
  return { kind: CONNECT_FAILURES.has(code) && !isOpen ? 'notSent' : 'lost', reason: code };
}

/**
 * Node.js wraps the cause of a failed request once or twice; the innermost one is the most
 * specific. That of several addresses is an AggregateError with a code and no message.
 */
function innermostOf(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.cause !== undefined ? innermostOf(thrown.cause) : thrown;
}

/**
 * The one path from a call to a response.
 *
 * 1. A call is one request: it is never sent again here. What moves money is sent again by the caller, who
 *    reads the state first.
 * 2. Every call ends: with its response, its timeout or the caller's signal.
 * 3. A response that is not from the admin API is an error, never data.
 */
import {
  exchange,
  type HttpExchange,
  type HttpResponse,
  readRetryAfter,
} from '../platform/httpExchange.ts';
import { AdminApiError, type AdminApiErrorKind } from './errors.ts';
import { OPERATIONS, type Operation, type OperationName } from './operations.ts';
import type { AdminApiCallOptions, AdminApiOptions } from './options.ts';

/** The fields of a call: of its path, its query and its body. */
export type Input = Readonly<Record<string, unknown>>;

export type Send = (
  name: OperationName,
  input: Input,
  options?: AdminApiCallOptions,
) => Promise<Readonly<Record<string, unknown>>>;

const DEFAULT_TIMEOUT_MS = 30_000;
/** A longer timer would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws TypeError for options that are not valid; the message never contains the token */
export function createSend({ baseUrl, token, timeoutMs }: AdminApiOptions): Send {
  const base = readBaseUrl(baseUrl);
  const headers = { authorization: `Bearer ${readToken(token)}` };
  const standardMs = readTimeout(timeoutMs ?? DEFAULT_TIMEOUT_MS);
  return async (name, input, options = {}) => {
    const signal = options.signal ?? new AbortController().signal;
    const waitMs = readTimeout(options.timeoutMs ?? standardMs);
    const request = { ...buildRequest(base, name, input), headers };
    if (signal.aborted) throw aborted(name, signal);
    const result = await exchange(request, { timeoutMs: waitMs, signal });
    if (result.kind === 'response') return readResponse(name, result);
    if (signal.aborted) throw aborted(name, signal);
    const kind = result.kind === 'notSent' ? 'unavailable' : 'outcome_unknown';
    throw new AdminApiError(kind, { operation: name, message: result.reason });
  };
}

function buildRequest(
  base: string,
  name: OperationName,
  input: Input,
): Omit<HttpExchange, 'headers'> {
  const operation: Operation = OPERATIONS[name];
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = left.get(field);
    left.delete(field);
    return pathSegment(name, field, value);
  });
  const { query, hasBody } = operation;
  const search = new URLSearchParams();
  for (const [field, value] of left) {
    if (hasBody && !query.includes(field)) continue;
    left.delete(field);
    // A flag is sent as 1, or not at all.
    if (value !== false) search.set(field, value === true ? '1' : String(value));
  }
  return {
    method: operation.method,
    url: `${base}${path}${search.size > 0 ? `?${search}` : ''}`,
    body: hasBody ? JSON.stringify(Object.fromEntries(left)) : undefined,
  };
}

/** @throws TypeError for what a path cannot carry: `.` and `..` would name another endpoint */
function pathSegment(name: OperationName, field: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (/^\.{0,2}$/.test(text)) {
    throw new TypeError(`${name}: ${field} must be an id or a number, and not . or ..`);
  }
  return encodeURIComponent(text);
}

function readResponse(
  operation: OperationName,
  { httpStatus, headers, body }: HttpResponse,
): Readonly<Record<string, unknown>> {
  if (isObject(body) && httpStatus >= 200 && httpStatus < 300) return body;
  const error = isObject(body) && isObject(body.error) ? body.error : undefined;
  const message = textOf(error?.message);
  if (message === undefined) throw foreign(operation, httpStatus, headers);
  throw new AdminApiError(kindOf(httpStatus), {
    operation,
    httpStatus,
    message,
    type: textOf(error?.type),
    code: textOf(error?.code),
    retryAfterMs: readRetryAfter(headers),
  });
}

/** A 5xx may come from a proxy that stopped waiting for a request that is carried out. */
function foreign(
  operation: OperationName,
  httpStatus: number,
  headers: HttpResponse['headers'],
): AdminApiError {
  const what = `the response with status ${httpStatus} is not from the admin API`;
  if (httpStatus < 500) {
    const message = `${what}; check baseUrl`;
    return new AdminApiError('unreadable_response', { operation, httpStatus, message });
  }
  const message = `${what}, but from what is in front of it`;
  const retryAfterMs = readRetryAfter(headers);
  return new AdminApiError('outcome_unknown', { operation, httpStatus, message, retryAfterMs });
}

function kindOf(httpStatus: number): AdminApiErrorKind {
  if (httpStatus === 429 || httpStatus === 503) return 'unavailable';
  return httpStatus < 500 ? 'refused' : 'outcome_unknown';
}

function aborted(operation: OperationName, { reason }: AbortSignal): AdminApiError {
  return new AdminApiError('aborted', {
    operation,
    message: 'the caller aborted it',
    cause: reason,
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError('baseUrl must begin with https:// or http://');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must not contain credentials, a query or a fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/** Other characters would be rejected when the header is built, with a message that repeats the token. */
function readToken(token: string): string {
  if (!token) throw new TypeError('token is empty; is the variable that holds it set?');
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError('token must consist of printable characters without spaces');
  }
  return token;
}

function readTimeout(timeoutMs: number): number {
  if (timeoutMs >= 1 && timeoutMs <= MAX_TIMER_MS) return timeoutMs;
  throw new TypeError(`timeoutMs must be a number from 1 to ${MAX_TIMER_MS}`);
}

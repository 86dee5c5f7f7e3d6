/**
 * Sends one HTTP request and classifies its response.
 *
 * It uses the requests of `node:http`: those of `fetch` took nearly half of the processor time of a process that delivers
 * order webhooks (docs/decisions/0180-posts-without-fetch.md).
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { errorCode } from '../../platform/errors.ts';
import { readRetryAfter } from '../../platform/httpExchange.ts';
import type { AttemptResult } from '../domain/retry.ts';

export interface Posting {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Responses that concern the time and not the message. */
const TRY_LATER = new Set([408, 425, 429]);
const GONE = 410;

/** Of a response, so that its connection can be kept. A longer one ends with its connection. */
const MOST_READ_BYTES = 64 * 1024;

/**
 * Posts JSON. Redirects are not followed: the signed message is for the configured address only. Only
 * the status and the headers of the response count.
 */
export async function post(posting: Posting): Promise<AttemptResult> {
  try {
    return classifyResponse(await send(posting));
  } catch (error) {
    return { outcome: 'unavailable', response: reasonOf(error, posting.timeoutMs) };
  }
}

const TIMED_OUT = new Error('timed out');

/** @returns once the headers have arrived; the body is read and dropped, within the same time */
function send(posting: Posting): Promise<IncomingMessage> {
  const request = begin(posting);
  return new Promise((resolve, reject) => {
    request.on('error', (error) => {
      if (wasClosedMeanwhile(request, error)) resolve(send(posting));
      else reject(error);
    });
    request.on('response', (response) => {
      let readBytes = 0;
      response.on('data', (chunk: Buffer) => {
        readBytes += chunk.length;
        if (readBytes > MOST_READ_BYTES) request.destroy();
      });
      // Its status has arrived, and the rest does not count.
      response.on('error', () => undefined);
      resolve(response);
    });
    request.end(posting.body);
  });
}

function begin({ url, body, headers, timeoutMs }: Posting): ClientRequest {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'tallyhook',
      ...headers,
    },
  });
  const timer = setTimeout(() => request.destroy(TIMED_OUT), timeoutMs);
  request.on('close', () => clearTimeout(timer));
  return request;
}

/**
 * A connection is kept for the next message, and the receiver may close it at the moment at which that is sent. Then
 * it is sent again: whoever got it twice recognizes the id.
 */
function wasClosedMeanwhile(request: ClientRequest, error: Error): boolean {
  return request.reusedSocket && errorCode(error) === 'ECONNRESET';
}

function classifyResponse({ statusCode: status = 0, headers }: IncomingMessage): AttemptResult {
  const response = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { outcome: 'delivered', response };
  if (status === GONE) return { outcome: 'gone', response };
  if (status >= 500 || TRY_LATER.has(status)) {
    return { outcome: 'unavailable', response, retryAfterMs: readRetryAfter(headersOf(headers)) };
  }
  const isRedirect = status >= 300 && status < 400;
  return {
    outcome: 'refused',
    response: isRedirect ? `${response}: redirects are not followed` : response,
  };
}

function headersOf({
  'retry-after': retryAfter = '',
  date = '',
}: IncomingMessage['headers']): Headers {
  return new Headers({ ...(retryAfter && { 'retry-after': retryAfter }), ...(date && { date }) });
}

/** Not the whole error: some contain the address, which may be a secret. */
function reasonOf(thrown: unknown, timeoutMs: number): string {
  if (thrown === TIMED_OUT) return `no response within ${timeoutMs / 1000} s`;
  const code = errorCode(thrown);
  return code === '' ? 'no connection' : `no connection: ${code}`;
}

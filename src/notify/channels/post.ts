/** Sends one HTTP request and classifies its response. */

import { errorCode, toError } from '../../platform/errors.ts';
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

/**
 * Posts JSON. Redirects are not followed: the signed message is for the configured address only. Only
 * the status of the response is read.
 */
export async function post({ url, body, headers, timeoutMs }: Posting): Promise<AttemptResult> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'tallyhook', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    return { outcome: 'unavailable', response: reasonOf(error, timeoutMs) };
  }
  await response.body?.cancel().catch(() => undefined);
  return classifyResponse(response);
}

function classifyResponse({ status, headers }: Response): AttemptResult {
  const response = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { outcome: 'delivered', response };
  if (status === GONE) return { outcome: 'gone', response };
  if (status >= 500 || TRY_LATER.has(status)) {
    return { outcome: 'unavailable', response, retryAfterMs: readRetryAfter(headers) };
  }
  const isRedirect = status >= 300 && status < 400;
  return {
    outcome: 'refused',
    response: isRedirect ? `${response}: redirects are not followed` : response,
  };
}

/** Not the whole error: some contain the address, which may be a secret. */
function reasonOf(thrown: unknown, timeoutMs: number): string {
  const error = toError(thrown);
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = errorCode(cause);
  return code === '' ? 'no connection' : `no connection: ${code}`;
}

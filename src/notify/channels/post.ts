/** One HTTP request, and what its answer means for the message it carried. */

import { toError } from '../../platform/errors.ts';
import type { Attempted } from '../domain/retry.ts';

export interface Posting {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Answers that say nothing of this message, only that now is not the time. */
const NOT_NOW = new Set([408, 425, 429]);
const GONE = 410;

/**
 * Posts JSON. Redirects are not followed: whoever set the address meant that one, and what is signed
 * for it is nobody else's. Of the answer only the status is looked at.
 */
export async function post({ url, body, headers, timeoutMs }: Posting): Promise<Attempted> {
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
    return { outcome: 'away', answer: reasonOf(error, timeoutMs) };
  }
  await response.body?.cancel().catch(() => undefined);
  return judgeStatus(response.status, response.headers.get('retry-after'));
}

function judgeStatus(status: number, retryAfter: string | null): Attempted {
  const answer = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { outcome: 'delivered', answer };
  if (status === GONE) return { outcome: 'gone', answer };
  if (status >= 500 || NOT_NOW.has(status)) {
    return { outcome: 'away', answer, retryAfterMs: secondsToMs(retryAfter) };
  }
  const isRedirect = status >= 300 && status < 400;
  return {
    outcome: 'refused',
    answer: isRedirect ? `${answer}: redirects are not followed` : answer,
  };
}

/** Only seconds are understood; a date would make the wait depend on two clocks. */
function secondsToMs(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : undefined;
}

/** Never the whole error: some carry the address, which may be a secret. */
function reasonOf(thrown: unknown, timeoutMs: number): string {
  const error = toError(thrown);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  return 'code' in cause && typeof cause.code === 'string'
    ? `no connection: ${cause.code}`
    : 'no connection';
}

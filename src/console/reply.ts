/** Every answer and every error of the admin API, and what it is in HTTP. */
import { errorEnvelope } from '../contract/errors.ts';
import { isContended, isDatabaseUnavailable } from '../platform/db/failures.ts';
import type { Answer } from './endpoint.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function toReply(given: Answer<unknown>): Reply {
  switch (given.outcome) {
    case 'ok':
      return { status: 200, headers: {}, body: given.body };
    case 'created':
      return { status: 201, headers: {}, body: given.body };
    case 'invalid':
      return refusal(400, given.message);
    case 'conflict':
      return refusal(409, given.message);
    case 'unavailable':
      return unavailable(given.message);
    case 'not_found': {
      const body = errorEnvelope('invalid_request', 'IR_05', given.message);
      return { status: 404, headers: {}, body };
    }
  }
}

/** The sender did something that sending again will not mend. */
export function refusal(status: number, message: string): Reply {
  return { status, headers: {}, body: errorEnvelope('invalid_request', 'IR_04', message) };
}

/** Sending again soon may do. */
export function unavailable(message = 'The database cannot be read now. Try again soon.'): Reply {
  const body = errorEnvelope('api_error', 'HE_00', message);
  return { status: 503, headers: { 'Retry-After': '5' }, body };
}

/** SQLSTATE of a number that its type cannot hold. */
const OUT_OF_RANGE = '22003';

/**
 * What to answer to an error. Whatever is not known is a 500 that tells nothing of its cause.
 * @param maxBodyBytes the limit that a body was refused for
 */
export function replyToError(error: unknown, maxBodyBytes: number): Reply {
  if (!(error instanceof Error)) return unexpected();
  if (isDatabaseUnavailable(error) || isContended(error)) return unavailable();
  if (error instanceof RangeError || ('code' in error && error.code === OUT_OF_RANGE)) {
    const message =
      'A sum leaves the range of whole numbers that JSON carries exactly (2^53 - 1), and a rounded ' +
      'amount would be wrong.';
    return { status: 422, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
  }
  // Express and its body parser put a status on errors that say what the sender did.
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
  if (status < 400 || status >= 500) return unexpected();
  return refusal(status, explain(error, { status, maxBodyBytes }));
}

function unexpected(): Reply {
  const message = 'This request failed for a reason that the log of the console tells.';
  return { status: 500, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
}

function explain(
  error: Error,
  { status, maxBodyBytes }: { readonly status: number; readonly maxBodyBytes: number },
): string {
  if (status === 413) return `The body is larger than ${maxBodyBytes} bytes.`;
  if (status === 415) return 'Send the body without Content-Encoding, in UTF-8.';
  const isBody = 'type' in error && error.type === 'entity.parse.failed';
  return isBody ? 'The body is not JSON.' : 'The request cannot be read.';
}

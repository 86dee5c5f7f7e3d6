/** HTTP responses of the admin API for every outcome and error. */
import type { Response } from 'express';
import { AttemptInterrupted } from '../audit/recordAudit.ts';
import { errorEnvelope } from '../contract/errors.ts';
import { InexactSum, WOULD_BE_ROUNDED } from '../contract/money.ts';
import {
  isBusy,
  isContended,
  isDatabaseUnavailable,
  isForbidden,
  UnsafeInteger,
} from '../platform/db/failures.ts';
import { SQLSTATES } from '../platform/db/sqlStates.ts';
import { errorCode } from '../platform/errors.ts';
import type { Outcome } from './endpoint.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The largest body of an endpoint that states no other limit. */
export const MAX_BODY_BYTES = 4 * 1024;

export function send(response: Response, { status, headers, body }: Reply): void {
  response.status(status).set(headers).json(body);
}

export function toReply(given: Outcome<unknown>): Reply {
  switch (given.outcome) {
    case 'ok':
      return { status: 200, headers: {}, body: given.body };
    case 'created':
      return { status: 201, headers: {}, body: given.body };
    case 'accepted':
      return { status: 202, headers: {}, body: given.body };
    case 'unknown':
      return unknownOutcome(given.message);
    case 'invalid':
      return refusal(400, given.message);
    case 'conflict':
      return withPosition(refusal(409, given.message), given.continueAfter);
    case 'gone':
      return withPosition(refusal(410, given.message), given.continueAfter);
    case 'unavailable':
      return unavailable(given.message);
    case 'not_found': {
      const body = errorEnvelope('invalid_request', 'IR_05', given.message);
      return { status: 404, headers: {}, body };
    }
  }
}

/** The request is wrong; sending it again will not help. */
export function refusal(status: number, message: string): Reply {
  return { status, headers: {}, body: errorEnvelope('invalid_request', 'IR_04', message) };
}

/** Beside the error, for programs that read the change feed. */
function withPosition(reply: Reply, continueAfter: number | undefined): Reply {
  if (continueAfter === undefined) return reply;
  return { ...reply, body: { ...Object(reply.body), continue_after: continueAfter } };
}

/** It may have been done; the message names the attempt. */
function unknownOutcome(message: string): Reply {
  return { status: 504, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
}

const BUSY =
  'The database is available, and busy: the request waited too long for it, such as for a lock. Try again soon.';

/** Sending the request again soon may succeed. */
export function unavailable(message = 'The database is unavailable. Try again soon.'): Reply {
  const body = errorEnvelope('api_error', 'HE_00', message);
  return { status: 503, headers: { 'Retry-After': '5' }, body };
}

/**
 * The response to an error. An unexpected error is a 500 that does not reveal its cause.
 * @param maxBodyBytes the limit for bodies
 */
export function replyToError(error: unknown, maxBodyBytes: number): Reply {
  if (!(error instanceof Error)) return unexpected();
  if (error instanceof AttemptInterrupted) return unknownOutcome(error.message);
  if (isBusy(error)) return unavailable(BUSY);
  if (isDatabaseUnavailable(error) || isContended(error)) return unavailable();
  if (isForbidden(error)) {
    return forbidden(
      error.message,
      'Run `npx tallyhook doctor` with the DATABASE_URL of the console.',
    );
  }
  if (error instanceof InexactSum) {
    return inexact(`${error.message} The commands print it exactly without --json.`);
  }
  if (error instanceof UnsafeInteger || errorCode(error) === SQLSTATES.numeric_value_out_of_range) {
    return inexact(`A sum ${WOULD_BE_ROUNDED}`);
  }
  // Express and its body parser set a status on errors of the sender.
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
  if (status < 400 || status >= 500) return unexpected();
  return refusal(status, explain(error, { status, maxBodyBytes }));
}

function inexact(message: string): Reply {
  return { status: 422, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
}

/** The installation does not let the console do this; the sender cannot change that. */
export function forbidden(reason: string, nextStep: string): Reply {
  const message = `The console may not do this: ${reason}. ${nextStep}`;
  return { status: 500, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
}

function unexpected(): Reply {
  const message = 'The request failed unexpectedly. The log of the console has the cause.';
  return { status: 500, headers: {}, body: errorEnvelope('api_error', 'HE_00', message) };
}

function explain(
  error: Error,
  { status, maxBodyBytes }: { readonly status: number; readonly maxBodyBytes: number },
): string {
  if (status === 413)
    return `The body is larger than ${maxBodyBytes} bytes. Nothing was done. Send less in one request.`;
  if (status === 415) return 'Send the body without Content-Encoding, in UTF-8.';
  const isBody = 'type' in error && error.type === 'entity.parse.failed';
  return isBody ? 'The body is not JSON.' : 'The request cannot be read.';
}

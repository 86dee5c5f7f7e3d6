/** Maps the result of a request to the error that a caller sees. */
import type { Endpoint } from '../contract/endpoints/index.ts';
import { errorEnvelopeSchema, readError } from '../contract/errors.ts';
import { type AttemptFailure, outcomeOf } from './domain/retry.ts';
import { type ClientErrorKind, PaymentServiceError } from './errors.ts';
import type { AttemptResult } from './transport.ts';

/** How `result` failed at `nowMs`; undefined for a success. */
export function failureOf(
  result: AttemptResult,
  endpoint: Endpoint,
  nowMs: number,
): AttemptFailure | undefined {
  if (result.kind !== 'response') return { kind: result.kind };
  const { httpStatus, rate, retryAfterMs } = result;
  // A resource may have an `error` of its own, so that of a success needs all of its fields.
  if (isSuccess(httpStatus) && !errorEnvelopeSchema.safeParse(result.body).success) {
    return isReadable(result.body, endpoint) ? undefined : { kind: 'lost' };
  }
  const untilResetMs = rate.exceeded && rate.resetAtMs ? rate.resetAtMs - nowMs : undefined;
  return {
    kind: 'response',
    httpStatus,
    code: readError(result.body)?.code,
    namedWaitMs: untilResetMs ?? retryAfterMs,
  };
}

/**
 * Only an endpoint with a response that the contract leaves open may return no JSON, or nothing. A page of a
 * proxy is no success.
 */
function isReadable(body: unknown, { response }: Endpoint): boolean {
  const isJson = body !== undefined && typeof body !== 'string';
  return isJson || response.safeParse(body).success;
}

function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}

/** A call that failed for good. */
export interface FailedCall {
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly result: AttemptResult;
  readonly failure: AttemptFailure;
  /** Whether the contract makes it safe to retry the call. */
  readonly repeatable: boolean;
  /** Whether any attempt had an unknown outcome. */
  readonly everUnknown: boolean;
  readonly attempts: number;
}

/** The error for a failed call. `redact` removes secrets from the service's text. */
export function errorOf(call: FailedCall, redact: (text: string) => string): PaymentServiceError {
  const { operation, endpoint, result, failure, attempts, repeatable } = call;
  const code = failure.kind === 'response' ? failure.code : undefined;
  const changes = endpoint.repetition.kind !== 'safe';
  const kind = kindOf(call, changes);
  const retryable = kind === 'rate_limited' || kind === 'unavailable';
  return new PaymentServiceError(kind, {
    operation,
    message: describe(call, redact),
    attempts,
    code: code && redact(code),
    outcomeUnknown: changes && call.everUnknown && code !== 'HE_01',
    retryable: retryable && (repeatable || !call.everUnknown),
    ...(result.kind === 'response' && {
      httpStatus: result.httpStatus,
      requestId: result.requestId,
    }),
  });
}

function kindOf({ result, failure, repeatable }: FailedCall, changes: boolean): ClientErrorKind {
  if (result.kind === 'response' && failure.kind === 'lost') return 'unreadable_response';
  switch (outcomeOf(failure)) {
    case 'refused':
      return 'refused';
    case 'notExecuted':
      return failure.kind === 'response' ? 'rate_limited' : 'unavailable';
    case 'unknown':
      return changes && !repeatable ? 'outcome_unknown' : 'unavailable';
  }
}

function describe(
  { result, failure, attempts }: FailedCall,
  redact: (text: string) => string,
): string {
  const after = attempts === 1 ? '' : ` after ${attempts} attempts`;
  if (result.kind !== 'response') {
    const what = result.kind === 'notSent' ? 'service unreachable' : 'no complete response';
    return `${what}${after} (${redact(result.reason)})`;
  }
  const { httpStatus, requestId } = result;
  const request = requestId === undefined ? '' : ` (request ${requestId})`;
  if (failure.kind === 'lost') return `HTTP ${httpStatus} without a JSON body${after}${request}`;
  if (httpStatus >= 300 && httpStatus < 400) {
    return `HTTP ${httpStatus}: redirects are not followed, because they would send the key to another host${request}`;
  }
  return `HTTP ${httpStatus}${describeError(result.body, redact)}${after}${request}`;
}

function describeError(body: unknown, redact: (text: string) => string): string {
  const error = readError(body);
  if (error === undefined) return '';
  const message = redact(withoutPeriod(error.message));
  return ` ${redact(error.code)}${message === '' ? '' : `: ${message}`}`;
}

/** The message of an error becomes a part of sentences, which end with their own period. */
function withoutPeriod(text: string): string {
  return text.trimEnd().replace(/(?<!\.)\.$/, '');
}

/** From what came of a request to the error that a caller sees. */
import type { Endpoint } from '../contract/endpoints/index.ts';
import { errorEnvelopeSchema } from '../contract/errors.ts';
import { type AttemptFailure, meaningOf } from './domain/retry.ts';
import { type ClientErrorKind, PaymentServiceError } from './errors.ts';
import type { AttemptResult } from './transport.ts';

/** How `result` failed at `nowMs`; undefined for a success. */
export function failureOf(
  result: AttemptResult,
  endpoint: Endpoint,
  nowMs: number,
): AttemptFailure | undefined {
  if (result.kind !== 'answer') return { kind: result.kind };
  const { httpStatus, rate, retryAfterMs } = result;
  const envelope = errorEnvelopeSchema.safeParse(result.body);
  if (isSuccess(httpStatus) && !envelope.success) {
    return isReadable(result.body, endpoint) ? undefined : { kind: 'lost' };
  }
  const untilResetMs = rate.exceeded && rate.resetAtMs ? rate.resetAtMs - nowMs : undefined;
  return {
    kind: 'answer',
    httpStatus,
    code: envelope.data?.error.code,
    namedWaitMs: untilResetMs ?? retryAfterMs,
  };
}

/** Only an endpoint whose answer is left open may answer with something that is no JSON. */
function isReadable(body: unknown, { response }: Endpoint): boolean {
  return body !== undefined || response.safeParse(undefined).success;
}

function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}

/** A call that is given up. */
export interface GivenUp {
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly result: AttemptResult;
  readonly failure: AttemptFailure;
  /** Whether the contract makes repeating the call safe. */
  readonly repeatable: boolean;
  /** Whether any attempt left it open what became of it. */
  readonly everUnknown: boolean;
  readonly attempts: number;
}

/** The error for a call that is given up; `redact` takes secrets out of what the service wrote. */
export function errorOf(call: GivenUp, redact: (text: string) => string): PaymentServiceError {
  const { operation, endpoint, result, failure, attempts, repeatable } = call;
  const code = failure.kind === 'answer' ? failure.code : undefined;
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
    ...(result.kind === 'answer' && {
      httpStatus: result.httpStatus,
      requestId: result.requestId,
    }),
  });
}

function kindOf({ result, failure, repeatable }: GivenUp, changes: boolean): ClientErrorKind {
  if (result.kind === 'answer' && failure.kind === 'lost') return 'unreadable_response';
  switch (meaningOf(failure)) {
    case 'refused':
      return 'refused';
    case 'notDone':
      return failure.kind === 'answer' ? 'rate_limited' : 'unavailable';
    case 'unknown':
      return changes && !repeatable ? 'outcome_unknown' : 'unavailable';
  }
}

function describe(
  { result, failure, attempts }: GivenUp,
  redact: (text: string) => string,
): string {
  const after = attempts === 1 ? '' : ` after ${attempts} attempts`;
  if (result.kind !== 'answer') {
    const what = result.kind === 'notSent' ? 'not reached' : 'no whole answer';
    return `${what}${after} (${redact(result.reason)})`;
  }
  const { httpStatus, requestId } = result;
  const request = requestId === undefined ? '' : ` (request ${requestId})`;
  if (failure.kind === 'lost') return `HTTP ${httpStatus} with no JSON${after}${request}`;
  if (httpStatus >= 300 && httpStatus < 400) {
    return `HTTP ${httpStatus}: a redirect, which is never followed with a key${request}`;
  }
  const error = errorEnvelopeSchema.safeParse(result.body).data?.error;
  const said = error === undefined ? '' : ` ${redact(error.code)}: ${redact(error.message)}`;
  return `HTTP ${httpStatus}${said}${after}${request}`;
}

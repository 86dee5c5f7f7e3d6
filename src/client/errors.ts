/** The error of a call. service-interface.md §7. */
import type { RequestProblem } from '../contract/problems.ts';

/**
 * - `invalid_request`: not sent, because the contract would reject it; `problems` has the reasons.
 * - `refused`: the service returned an error that a retry does not change.
 * - `rate_limited`: the rate limit left no request within the call's time limit.
 * - `unavailable`: the service failed or was unreachable in every attempt that the policy allows, or the rate
 *   budget rejected, which `cause` has.
 * - `outcome_unknown`: the request may have been processed, and a retry might do it twice.
 * - `id_in_use`: the id belongs to another payment or refund.
 * - `unreadable_response`: the service reported success with a body that does not match the
 *   contract.
 * - `aborted`: the caller's signal aborted the call; `cause` is its reason.
 */
export type ClientErrorKind =
  | 'invalid_request'
  | 'refused'
  | 'rate_limited'
  | 'unavailable'
  | 'outcome_unknown'
  | 'id_in_use'
  | 'unreadable_response'
  | 'aborted';

/** Everything about a failed call but its kind; PaymentServiceError documents each field. */
export interface ClientErrorDetails {
  readonly operation: string;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly attempts?: number;
  readonly outcomeUnknown?: boolean;
  readonly retryable?: boolean;
  readonly problems?: readonly RequestProblem[];
  readonly cause?: unknown;
}

/** The only error of this client. It contains neither the key nor anything that was sent. */
export class PaymentServiceError extends Error {
  override readonly name = 'PaymentServiceError';
  readonly kind: ClientErrorKind;
  /** The endpoint, as the contract names it. */
  readonly operation: string;
  /** Of the last response; undefined if none arrived. */
  readonly httpStatus: number | undefined;
  /** The service's error code. It may be one that the contract does not list. */
  readonly code: string | undefined;
  /** The service's id of the request, for its support. */
  readonly requestId: string | undefined;
  /** Requests sent before the call failed, of all kinds. */
  readonly attempts: number;
  /** The call may have been processed anyway: retrieve the resource before doing anything else. */
  readonly outcomeUnknown: boolean;
  /** The same call may succeed later, and making it again cannot do anything twice. */
  readonly retryable: boolean;
  /** What is wrong with the request; empty if it was sent. */
  readonly problems: readonly RequestProblem[];

  constructor(kind: ClientErrorKind, details: ClientErrorDetails) {
    const { operation, message, cause } = details;
    super(`${operation}: ${message}`, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.operation = operation;
    this.httpStatus = details.httpStatus;
    this.code = details.code;
    this.requestId = details.requestId;
    this.attempts = details.attempts ?? 0;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
    this.retryable = details.retryable ?? false;
    this.problems = details.problems ?? [];
  }
}

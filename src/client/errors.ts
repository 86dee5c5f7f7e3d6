/** What a call fails with. service-interface.md §7. */
import type { RequestProblem } from '../contract/problems.ts';

/**
 * - `invalid_request`: not sent, because the contract would refuse it; `problems` says why.
 * - `refused`: the service answered with an error that repeating does not change.
 * - `rate_limited`: the budget was not free again within the time of the call.
 * - `unavailable`: the service failed or was not reached, as often as the policy allows.
 * - `outcome_unknown`: the request may have been carried out, and repeating it might do it twice.
 * - `id_in_use`: the id belongs to another payment or refund than the one asked for.
 * - `unreadable_response`: the service said yes in words that are not the contract's.
 * - `aborted`: the caller's signal ended the call; `cause` is its reason.
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

/** Everything about a failed call but its kind; PaymentServiceError tells what each field means. */
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

/** The one error of this client. It carries neither the key nor anything that was sent. */
export class PaymentServiceError extends Error {
  override readonly name = 'PaymentServiceError';
  readonly kind: ClientErrorKind;
  /** The endpoint, as the contract names it. */
  readonly operation: string;
  /** Of the last answer; undefined where none came. */
  readonly httpStatus: number | undefined;
  /** The service's own code. It may be one that the contract does not list. */
  readonly code: string | undefined;
  /** The service's name of the request, for its support. */
  readonly requestId: string | undefined;
  /** Requests that had been sent when it failed, of all kinds that the call takes. */
  readonly attempts: number;
  /** The call may have been carried out all the same: look before doing anything else. */
  readonly outcomeUnknown: boolean;
  /** The same call may succeed later, and making it again cannot do anything twice. */
  readonly retryable: boolean;
  /** What is wrong with the request; empty where it was sent. */
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

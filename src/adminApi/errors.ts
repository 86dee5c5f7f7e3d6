/** The error of a call to the admin API. */

/**
 * - `refused`: the admin API refused the request, and nothing was done. `httpStatus` and the message have
 *   the reason: 401 and 403 the token, 404 an unknown id, 409 the current state.
 * - `unavailable`: nothing was done, and the same call may succeed later; `retryAfterMs` has the delay.
 * - `outcome_unknown`: no complete response arrived, a proxy responded with a 5xx instead, or the console does not
 *   know what became of it. What changes something may have been done: read its state before you call again.
 * - `unreadable_response`: what responded is not the admin API.
 * - `aborted`: the caller's signal aborted the call. What was already sent may have been done.
 */
export type AdminApiErrorKind =
  | 'refused'
  | 'unavailable'
  | 'outcome_unknown'
  | 'unreadable_response'
  | 'aborted';

interface AdminApiErrorDetails {
  readonly operation: string;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The only error that a call rejects with. It contains neither the token nor anything that was sent. */
export class AdminApiError extends Error {
  override readonly name = 'AdminApiError';
  readonly kind: AdminApiErrorKind;
  /** The method of the client. */
  readonly operation: string;
  /** Undefined if no response arrived. */
  readonly httpStatus: number | undefined;
  /** `error.type` of the response. */
  readonly type: string | undefined;
  /** `error.code` of the response. */
  readonly code: string | undefined;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: AdminApiErrorKind, details: AdminApiErrorDetails) {
    const { operation, message, cause } = details;
    super(`${operation}: ${message}`, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.operation = operation;
    this.httpStatus = details.httpStatus;
    this.type = details.type;
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs;
  }
}

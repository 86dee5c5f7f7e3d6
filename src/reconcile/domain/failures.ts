/**
 * What a failed request means for the work that needed it.
 *
 * 1. A failure of the service shows nothing about a resource: none is marked failed or missing.
 * 2. A resource is missing only where the service responds so with its error envelope. A 404 without it
 *    comes from another server, most often because the base URL is wrong.
 * 3. Permissions may differ from endpoint to endpoint. A 403 with the error envelope concerns one kind of
 *    resource; without it, it comes from a server in between, and concerns everything.
 */

/** What is read of a failed request. */
export interface FailedCall {
  /** As the client names it. */
  readonly kind: string;
  readonly httpStatus: number | undefined;
  /** The service's own code; undefined where the response had none. */
  readonly code: string | undefined;
}

/**
 * - `missing`: the service does not have the resource.
 * - `unauthorized`: it does not accept the API key. `forbidden`: the key may not make requests of this kind.
 * - `wrong_server`: the response is not the service's.
 * - `rate_limited`: the rate budget is used up. `unavailable`: no response, or an error of the service.
 * - `unreadable`: a response that breaks the contract. `refused`: it refuses this one request.
 */
export type Failure =
  | 'missing'
  | 'unauthorized'
  | 'forbidden'
  | 'wrong_server'
  | 'rate_limited'
  | 'unavailable'
  | 'unreadable'
  | 'refused';

/** Classifies a failed request (rules 1 to 3). */
export function failureOf({ kind, httpStatus = 0, code }: FailedCall): Failure {
  switch (kind) {
    case 'rate_limited':
    case 'unavailable':
      return kind;
    case 'unreadable_response':
      return 'unreadable';
  }
  if (httpStatus === 403 && code !== undefined) return 'forbidden';
  if (httpStatus === 401 || httpStatus === 403) return 'unauthorized';
  if (httpStatus === 404) return code === undefined ? 'wrong_server' : 'missing';
  if (httpStatus >= 300 && httpStatus < 400) return 'wrong_server';
  return 'refused';
}

/**
 * Whether every other request about this kind of resource would fail, too, so that the work waits instead
 * of continuing.
 */
export function affectsEveryRequest(failure: Failure): boolean {
  switch (failure) {
    case 'unauthorized':
    case 'forbidden':
    case 'wrong_server':
    case 'rate_limited':
    case 'unavailable':
      return true;
    case 'missing':
    case 'unreadable':
    case 'refused':
      return false;
  }
}

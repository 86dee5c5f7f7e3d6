/**
 * What a failed call means for the work that needed it.
 *
 * 1. Trouble with the service says nothing about a resource: nothing is marked failed or missing.
 * 2. A resource is missing only where the service says so in its own words. A 404 without its error
 *    envelope comes from somebody else, most often because the base address is wrong.
 */

/** What is read of a failed call. */
export interface FailedCall {
  /** As the client names it. */
  readonly kind: string;
  readonly httpStatus: number | undefined;
  /** The service's own code; undefined where the answer carried none. */
  readonly code: string | undefined;
}

/**
 * - `missing`: the service does not know the resource.
 * - `key`: it does not take the key. `address`: what answers is not the service.
 * - `busy`: the rate budget is used up. `away`: no answer, or a failure of its own.
 * - `unreadable`: an answer that is not the contract's. `refused`: it refuses this one request.
 */
export type Trouble = 'missing' | 'key' | 'address' | 'busy' | 'away' | 'unreadable' | 'refused';

/** Judges a failed call (rules 1 and 2). */
export function troubleOf({ kind, httpStatus = 0, code }: FailedCall): Trouble {
  switch (kind) {
    case 'rate_limited':
      return 'busy';
    case 'unavailable':
      return 'away';
    case 'unreadable_response':
      return 'unreadable';
  }
  if (httpStatus === 401 || httpStatus === 403) return 'key';
  if (httpStatus === 404) return code === undefined ? 'address' : 'missing';
  if (httpStatus >= 300 && httpStatus < 400) return 'address';
  return 'refused';
}

/** Whether another request would fare no better, so that the work waits instead of going on. */
export function isGeneral(trouble: Trouble): boolean {
  return trouble === 'key' || trouble === 'address' || trouble === 'busy' || trouble === 'away';
}

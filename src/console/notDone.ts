/** The responses to a request that moves money, when it was not carried out or may have been. */
import type { NotDone } from '../representation/notDone.ts';
import type { Outcome } from './endpoint.ts';

const OUTCOMES = { refused: 'conflict', failed: 'unavailable', unknown: 'unknown' } as const;

/** The statuses that an endpoint with such a request can have besides those of every endpoint. */
export const NOT_DONE_STATUSES = [404, 409, 504] as const;

export function notDoneOutcome(outcome: NotDone['outcome'], message: string): Outcome<never> {
  return { outcome: OUTCOMES[outcome], message };
}

/** What a request needs that no endpoint can do without. */
export const NO_SERVICE_KEY = {
  outcome: 'unavailable',
  message:
    'The process with the role console has no API key of the payment service. Set PAYMENTS_BASE_URL and ' +
    'PAYMENTS_API_KEY.',
} as const satisfies Outcome<never>;

/** The response when a resource could not be retrieved before anything was done. */
export function notRetrieved(
  id: string,
  { reason, isUnavailable }: { readonly reason: string; readonly isUnavailable: boolean },
): Outcome<never> {
  const message = `${id} cannot be retrieved (${reason}). Nothing was done.`;
  return { outcome: isUnavailable ? 'unavailable' : 'not_found', message };
}

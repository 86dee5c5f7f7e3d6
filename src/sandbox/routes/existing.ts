import type { Decision } from '../domain/decision.ts';
import type { Services } from '../services.ts';

/**
 * The id of a create request exists already: an earlier request was received.
 * service-interface.md §4.3.1; it leaves the HTTP status open.
 */
export function alreadyExists({ faults }: Services, message: string): Decision<never> {
  return { rejection: { status: faults.current().he_01_status, code: 'HE_01', message } };
}

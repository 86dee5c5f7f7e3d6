import type { Decision } from '../domain/decision.ts';
import type { Services } from '../services.ts';

/**
 * The id of a create is taken: the first request was received.
 * Interface document, section Endpoints, "Idempotent retry rule"; it leaves the HTTP status open.
 */
export function existsAlready({ faults }: Services, message: string): Decision<never> {
  return { refusal: { status: faults.current().he_01_status, code: 'HE_01', message } };
}

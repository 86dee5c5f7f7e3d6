/** Whether something of a payment can still be captured, and how much. */
import { isCapturable } from '../../contract/statuses.ts';

/** What the ledger holds of a payment. */
export interface Hold {
  readonly status: string | null;
  /** Minor units; the largest hold that was seen, 0 where none was. */
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
}

/**
 * What is left of a hold, in minor units; 0 when nothing can be captured. A payment whose status says
 * that it can be captured while its amounts say that nothing is left counts as done: the amounts are
 * what a capture would be refused by.
 */
export function capturableMinor({ status, authorizedMinor, capturedMinor }: Hold): number {
  if (!isCapturable(status)) return 0;
  return Math.max(0, authorizedMinor - capturedMinor);
}

/** Whether a payment can still be captured, and how much of it. */
import { isCapturable } from '../../contract/statuses.ts';

/** The amounts of a payment in the ledger, in minor units. */
export interface HeldAmounts {
  readonly status: string | null;
  /** The largest hold that was observed; 0 where none was. */
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
}

/**
 * What is left of a hold, in minor units; 0 when nothing can be captured. Where the status allows a
 * capture and the amounts leave nothing, the amounts decide: the service would refuse the capture.
 */
export function capturableMinor({ status, authorizedMinor, capturedMinor }: HeldAmounts): number {
  if (!isCapturable(status)) return 0;
  return Math.max(0, authorizedMinor - capturedMinor);
}

/** The way to capture or release the hold of a payment, for a role that may. */
import { isCapturable } from '../../contract/statuses.ts';
import { confirmHoldsHref } from '../links.ts';
import type { Viewer } from '../page.ts';
import { confirmHoldsPage } from './authorizationsPage.tsx';
import { holdValue } from './holds.ts';

export interface HeldPayment {
  readonly id: string;
  readonly status: string | null;
  readonly currency: string | null;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
}

/** Whether there is a hold that this viewer may act on. */
export function hasHoldLinks(payment: HeldPayment, viewer: Viewer): boolean {
  return holdOf(payment) !== undefined && viewer.may(confirmHoldsPage.permission);
}

function holdOf(payment: HeldPayment): string | undefined {
  const { id: paymentId, currency, status, authorizedMinor, capturedMinor } = payment;
  const amountMinor = authorizedMinor - capturedMinor;
  if (!isCapturable(status) || amountMinor <= 0 || currency === null) return undefined;
  return holdValue({ paymentId, amountMinor, currency });
}

export function HoldLinks({
  payment,
  viewer: { url },
}: {
  readonly payment: HeldPayment;
  readonly viewer: Pick<Viewer, 'url'>;
}) {
  const hold = holdOf(payment);
  if (hold === undefined) return null;
  return (
    <span>
      <a href={confirmHoldsHref('capture', hold, url)}>Capture it</a> or{' '}
      <a href={confirmHoldsHref('cancel', hold, url)}>release it</a>
    </span>
  );
}

/** What the pages call each kind of resource. */
import type { ResourceKind } from '../../contract/resources/index.ts';

export const RESOURCE_NAMES: Readonly<Record<ResourceKind, readonly [one: string, many: string]>> =
  {
    payment: ['Payment', 'Payments'],
    refund: ['Refund', 'Refunds'],
    dispute: ['Dispute', 'Disputes'],
    payout: ['Payout', 'Payouts'],
  };

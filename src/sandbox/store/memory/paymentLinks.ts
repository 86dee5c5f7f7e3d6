/** Payment links, in memory. */
import type { PaymentLinkState } from '../../domain/paymentLink.ts';
import type { Page } from '../page.ts';
import type { CreatedBounds } from '../paymentLinks.ts';
import type { Tables } from './tables.ts';
import { frozenJson, sortedBy } from './values.ts';

export function insertPaymentLink({ paymentLinks }: Tables, state: PaymentLinkState): void {
  paymentLinks.put(frozenJson(state));
}

export function readPaymentLink(
  { paymentLinks }: Tables,
  id: string,
): PaymentLinkState | undefined {
  return paymentLinks.get(id);
}

/** Transactions run one at a time: nothing needs a lock. */
export function lockPaymentLink(tables: Tables, id: string): PaymentLinkState | undefined {
  return readPaymentLink(tables, id);
}

export function updatePaymentLink(tables: Tables, state: PaymentLinkState): void {
  insertPaymentLink(tables, state);
}

export function listPaymentLinks(
  tables: Tables,
  { limit, offset, ...bounds }: CreatedBounds & Page,
): readonly PaymentLinkState[] {
  const sorted = sortedBy(select(tables, bounds), ({ created, payment_link_id: id }) => [
    created,
    id,
  ]);
  return sorted.toReversed().slice(offset, offset + limit);
}

export function countPaymentLinks(tables: Tables, bounds: CreatedBounds): number {
  return select(tables, bounds).length;
}

function select(
  { paymentLinks }: Tables,
  { from, to }: CreatedBounds,
): readonly PaymentLinkState[] {
  return [...paymentLinks.all()].filter(
    ({ created }) => (from === undefined || created >= from) && (to === undefined || created <= to),
  );
}

/** What is stored of payment links. */
import type { PaymentLinkState } from '../domain/paymentLink.ts';
import type { Page } from './page.ts';

export interface PaymentLinkStatements {
  insertPaymentLink(state: PaymentLinkState): Promise<void>;
  readPaymentLink(id: string): Promise<PaymentLinkState | undefined>;
  /** Reads a link and locks it until the transaction ends. */
  lockPaymentLink(id: string): Promise<PaymentLinkState | undefined>;
  /** Writes a changed link, which is locked by the caller. */
  updatePaymentLink(state: PaymentLinkState): Promise<void>;
  /** One page, newest first. */
  listPaymentLinks(page: CreatedBounds & Page): Promise<readonly PaymentLinkState[]>;
  /** How many there are in all. */
  countPaymentLinks(bounds: CreatedBounds): Promise<number>;
}

/** ISO 8601, both included; undefined for no bound. */
export interface CreatedBounds {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

import type { Services } from '../services.ts';

export const HOSTED_PATH = '/_sandbox/hosted';
export const LINK_PATH = '/_sandbox/payment_link';
export const PAYOUT_LINK_PATH = '/_sandbox/payout_link';

/** Where the customer of a payment is sent. */
export function hostedPageUrl({ baseUrl }: Services, paymentId: string): string {
  return `${baseUrl()}${HOSTED_PATH}/${encodeURIComponent(paymentId)}`;
}

import type { Services } from '../services.ts';

export const HOSTED_PATH = '/_sandbox/hosted';

/** Where the customer of a payment is sent. */
export function hostedPageUrl({ baseUrl }: Services, paymentId: string): string {
  return `${baseUrl()}${HOSTED_PATH}/${encodeURIComponent(paymentId)}`;
}

/** Events as the service sends them, signed without the product's code. */
import { createHmac } from 'node:crypto';

export const MERCHANT_ID = 'merchant_test';
export const SECRET = 'test-secret-0123456789abcdefghijkl';

let serial = 0;

/** An id that no other test of this process uses. A later one sorts after it, as text, too. */
export function unique(prefix: string): string {
  serial += 1;
  return `${prefix}_${process.pid}_${String(serial).padStart(6, '0')}`;
}

export interface EventOptions {
  readonly eventId?: string;
  readonly eventType?: string;
  readonly contentType?: string;
  readonly merchantId?: string;
  readonly timestamp?: string;
}

/** The body of an event that carries `object`. */
export function eventBody(object: object, options: EventOptions = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      merchant_id: options.merchantId ?? MERCHANT_ID,
      event_id: options.eventId ?? unique('evt'),
      event_type: options.eventType ?? 'payment_succeeded',
      content: { type: options.contentType ?? 'payment_details', object },
      timestamp: options.timestamp ?? '2026-11-01T10:00:00.000Z',
    }),
  );
}

/** A succeeded payment of 65.40 USD with the fields shown in the contract. */
export function paymentObject(fields: object = {}): {
  payment_id: string;
  [field: string]: unknown;
} {
  return {
    payment_id: unique('pay'),
    status: 'succeeded',
    amount: 6540,
    amount_received: 6540,
    amount_capturable: 0,
    currency: 'USD',
    capture_method: 'automatic',
    created: '2026-11-01T09:59:00.000Z',
    modified_at: '2026-11-01T10:00:00.000Z',
    ...fields,
  };
}

export function sign(body: Buffer, secret = SECRET): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

/** The events that the load sends: distinct, signed, about 660 bytes, and about the payments of changes.ts. */
import { createHmac, randomBytes } from 'node:crypto';
import { SIGNATURE_ALGORITHM, SIGNATURE_HEADER } from '../src/contract/signature.ts';
import { type Change, createChanges, type StreamShape } from './changes.ts';

export const MERCHANT_ID = 'merchant_bench';
export const WEBHOOK_PATH = '/webhooks';

/** How a service sends its events. */
export interface EventFormat {
  bodyOf(eventId: string, change: Change): object;
  /** The header that a receiver verifies, `Name: value`. */
  signatureOf(body: Buffer, secret: string): string;
}

/** The requests of one stream of events, one after the other. */
export interface Requests {
  readonly bytes: Buffer;
  /** Where request `n` begins; one entry more than there are requests. */
  readonly starts: Uint32Array;
  readonly eventIds: readonly string[];
}

export interface EventStream {
  /** Part of every id of the stream, and nowhere else. */
  readonly run: string;
  /** Builds and signs the next `count` requests. */
  next(count: number): Requests;
  /** The requests of the last `next` again: the same event ids, and other bodies each time. */
  vary(): Requests;
  /** Those that are left until no payment is open. */
  finish(): Requests;
}

/** An upper bound of a request's length; bodies have a fixed set of short fields. */
const MAX_REQUEST_BYTES = 1_200;

export function createEventStream(
  seed: number,
  secret: string,
  shape?: StreamShape,
  format: EventFormat = OWN_FORMAT,
): EventStream {
  // No other run has these ids, so that runs on the same Redis or database cannot be confused.
  const run = randomBytes(5).toString('hex');
  const changes = createChanges(seed, run, shape);
  let events = 0;
  let last: readonly Change[] = [];
  let edition = 0;

  /** @param before events before the first of these */
  const requestsOf = (described: readonly Change[], before: number): Requests => {
    const bytes = Buffer.allocUnsafeSlow(described.length * MAX_REQUEST_BYTES);
    const starts = new Uint32Array(described.length + 1);
    const eventIds: string[] = [];
    let end = 0;
    for (const [n, change] of described.entries()) {
      const eventId = `evt_${run}${String(before + n + 1).padStart(22, '0')}`;
      eventIds.push(eventId);
      const content = format.bodyOf(eventId, change);
      const body = Buffer.from(JSON.stringify(edition > 0 ? { ...content, edition } : content));
      starts[n] = end;
      end += bytes.write(requestHead(body, format.signatureOf(body, secret)), end, 'latin1');
      end += body.copy(bytes, end);
    }
    starts[described.length] = end;
    return { bytes, starts, eventIds };
  };

  const advance = (described: readonly Change[]): Requests => {
    last = described;
    edition = 0;
    events += described.length;
    return requestsOf(described, events - described.length);
  };

  return {
    run,
    next: (count) => advance(Array.from({ length: count }, changes.next)),
    vary: () => {
      edition += 1;
      return requestsOf(last, events - last.length);
    },
    finish: () => advance(changes.finish()),
  };
}

function requestHead(body: Buffer, signature: string): string {
  return (
    `POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `${signature}\r\nContent-Length: ${body.length}\r\n\r\n`
  );
}

/** The events that Tallyhook receives. */
const OWN_FORMAT: EventFormat = {
  bodyOf: (eventId, change) => {
    const { eventType, contentType, object } = contentOf(change);
    return {
      merchant_id: MERCHANT_ID,
      event_id: eventId,
      event_type: eventType,
      content: { type: contentType, object },
      timestamp: new Date(change.changedMs).toISOString(),
    };
  },
  signatureOf: (body, secret) => {
    const digest = createHmac(SIGNATURE_ALGORITHM, secret).update(body).digest('hex');
    return `${SIGNATURE_HEADER}: ${digest}`;
  },
};

/** The content of an event, without its envelope. */
interface EventContent {
  readonly eventType: string;
  readonly contentType: string;
  readonly object: object;
}

function contentOf(change: Change): EventContent {
  const { amountMinor } = change.payment;
  switch (change.step) {
    case 'processing':
      return paymentEvent(change, { type: 'payment_processing', status: 'processing' });
    case 'succeeded':
      return paymentEvent(change, {
        type: 'payment_succeeded',
        status: 'succeeded',
        receivedMinor: amountMinor,
      });
    case 'authorized':
      return paymentEvent(change, {
        type: 'payment_authorized',
        status: 'requires_capture',
        capturableMinor: amountMinor,
        method: 'manual',
      });
    case 'captured':
      return paymentEvent(change, {
        type: 'payment_succeeded',
        status: 'succeeded',
        receivedMinor: amountMinor,
        method: 'manual',
      });
    case 'failed':
      return paymentEvent(change, {
        type: 'payment_failed',
        status: 'failed',
        error: { unified_code: 'UE_1000', unified_message: 'Issue with payment method details' },
      });
    case 'refunded':
      return refundEvent(change);
  }
}

function refundEvent({ payment, changedMs }: Change): EventContent {
  const modified = new Date(changedMs).toISOString();
  return {
    eventType: 'refund_succeeded',
    contentType: 'refund_details',
    object: {
      refund_id: `ref_${payment.key}`,
      payment_id: `pay_${payment.key}`,
      amount: Math.ceil(payment.amountMinor / 2),
      currency: 'USD',
      status: 'succeeded',
      reason: 'The customer sent one of two articles back',
      refund_type: 'instant',
      metadata: { order_id: payment.orderId, channel: 'web', desk: 'returns' },
      connector: 'acquirer',
      connector_refund_id: `re_${payment.key}`,
      profile_id: PROFILE_ID,
      created_at: modified,
      updated_at: modified,
    },
  };
}

interface PaymentFields {
  readonly type: string;
  readonly status: string;
  readonly receivedMinor?: number;
  readonly capturableMinor?: number;
  readonly method?: string;
  readonly error?: object;
}

const PROFILE_ID = 'pro_7Kq2mVx9TzLw4RbN';

function paymentEvent({ payment, changedMs }: Change, fields: PaymentFields): EventContent {
  return {
    eventType: fields.type,
    contentType: 'payment_details',
    object: {
      payment_id: `pay_${payment.key}`,
      merchant_id: MERCHANT_ID,
      status: fields.status,
      amount: payment.amountMinor,
      amount_received: fields.receivedMinor ?? 0,
      amount_capturable: fields.capturableMinor ?? 0,
      currency: 'USD',
      capture_method: fields.method ?? 'automatic',
      payment_method: 'card',
      payment_method_data: { card: { last4: '4242', brand: 'visa', exp_year: '2031' } },
      customer_id: 'cus_5fQ8yWn3',
      description: 'Two articles',
      metadata: { order_id: payment.orderId, channel: 'web' },
      profile_id: PROFILE_ID,
      created: new Date(payment.createdMs).toISOString(),
      modified_at: new Date(changedMs).toISOString(),
      ...fields.error,
    },
  };
}

/**
 * The events that the load sends: distinct, signed, about 660 bytes, and following the
 * lifecycles of payments.
 *
 * Five thousand payments are open at a time and each event advances a random one of them, so that a
 * payment's events are some thousands of events apart, as in a busy shop. A payment has 2.2 events on
 * average: 100,000 events make about 45,000 payments.
 *
 * Everything follows from a seed; two runs send the same payments.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { SIGNATURE_ALGORITHM, SIGNATURE_HEADER } from '../src/contract/signature.ts';

export const MERCHANT_ID = 'merchant_bench';
export const WEBHOOK_PATH = '/webhooks';

const OPEN_PAYMENTS = 5_000;

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
}

interface Payment {
  readonly id: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly createdMs: number;
  readonly steps: readonly Step[];
  /** How many of its steps have been sent. */
  sent: number;
}

type Step = (payment: Payment, modified: string) => EventContent;

/** The content of an event, without its envelope. */
interface EventContent {
  readonly eventType: string;
  readonly contentType: string;
  readonly object: object;
}

/** An upper bound of a request's length; bodies have a fixed set of short fields. */
const MAX_REQUEST_BYTES = 1_200;

export interface StreamShape {
  /** Payments that are open at a time. */
  readonly openPayments: number;
  /** When the first payment was created. */
  readonly startMs: number;
}

export function createEventStream(
  seed: number,
  secret: string,
  shape: StreamShape = { openPayments: OPEN_PAYMENTS, startMs: Date.now() - 60_000 },
): EventStream {
  const random = createRandom(seed);
  // No other run has these ids, so that runs on the same Redis or database cannot be confused.
  const run = randomBytes(5).toString('hex');
  const { startMs } = shape;
  const openPayments: Payment[] = [];
  let payments = 0;
  let events = 0;

  const newPayment = (): Payment => {
    payments += 1;
    const id = `pay_${scatter(payments)}${run}`;
    return {
      id,
      // One payment in ten is a second try for the order before it, which has a failed payment.
      orderId: `order_${run}_${payments % 10 === 0 ? payments - 1 : payments}`,
      amountMinor: 100 + Math.floor(random() * 50_000),
      createdMs: startMs + (payments % 50_000),
      steps: payments % 10 === 9 ? FAILED : drawSteps(random()),
      sent: 0,
    };
  };

  const nextBody = (eventId: string): Buffer => {
    const slot = Math.floor(random() * shape.openPayments);
    const open = openPayments[slot];
    const payment = open && open.sent < open.steps.length ? open : newPayment();
    openPayments[slot] = payment;
    const modified = new Date(payment.createdMs + (payment.sent + 1) * 1_000).toISOString();
    const content = (payment.steps[payment.sent] ?? succeeded)(payment, modified);
    payment.sent += 1;
    return Buffer.from(
      JSON.stringify({
        merchant_id: MERCHANT_ID,
        event_id: eventId,
        event_type: content.eventType,
        content: { type: content.contentType, object: content.object },
        timestamp: modified,
      }),
    );
  };

  return {
    run,
    next: (count) => {
      const bytes = Buffer.allocUnsafeSlow(count * MAX_REQUEST_BYTES);
      const starts = new Uint32Array(count + 1);
      const eventIds: string[] = [];
      let end = 0;
      for (let n = 0; n < count; n += 1) {
        events += 1;
        const eventId = `evt_${run}${String(events).padStart(22, '0')}`;
        eventIds.push(eventId);
        const body = nextBody(eventId);
        starts[n] = end;
        end += bytes.write(requestHead(body, secret), end, 'latin1');
        end += body.copy(bytes, end);
      }
      starts[count] = end;
      return { bytes, starts, eventIds };
    },
  };
}

function requestHead(body: Buffer, secret: string): string {
  const signature = createHmac(SIGNATURE_ALGORITHM, secret).update(body).digest('hex');
  return (
    `POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `${SIGNATURE_HEADER}: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n`
  );
}

/** 2.2 steps on average. */
function drawSteps(chance: number): readonly Step[] {
  if (chance < 0.55) return [processing, succeeded];
  if (chance < 0.75) return [authorized, captured];
  if (chance < 0.95) return [processing, succeeded, refunded];
  return FAILED;
}

const processing: Step = (payment, modified) =>
  paymentEvent(payment, modified, { type: 'payment_processing', status: 'processing' });

const succeeded: Step = (payment, modified) =>
  paymentEvent(payment, modified, {
    type: 'payment_succeeded',
    status: 'succeeded',
    receivedMinor: payment.amountMinor,
  });

const authorized: Step = (payment, modified) =>
  paymentEvent(payment, modified, {
    type: 'payment_authorized',
    status: 'requires_capture',
    capturableMinor: payment.amountMinor,
    method: 'manual',
  });

const captured: Step = (payment, modified) =>
  paymentEvent(payment, modified, {
    type: 'payment_succeeded',
    status: 'succeeded',
    receivedMinor: payment.amountMinor,
    method: 'manual',
  });

const failed: Step = (payment, modified) =>
  paymentEvent(payment, modified, {
    type: 'payment_failed',
    status: 'failed',
    error: { unified_code: 'UE_1000', unified_message: 'Issue with payment method details' },
  });

const FAILED: readonly Step[] = [processing, failed];

const refunded: Step = (payment, modified) => ({
  eventType: 'refund_succeeded',
  contentType: 'refund_details',
  object: {
    refund_id: payment.id.replace('pay_', 'ref_'),
    payment_id: payment.id,
    amount: Math.ceil(payment.amountMinor / 2),
    currency: 'USD',
    status: 'succeeded',
    reason: 'The customer sent one of two articles back',
    refund_type: 'instant',
    metadata: { order_id: payment.orderId, channel: 'web', desk: 'returns' },
    connector: 'acquirer',
    connector_refund_id: payment.id.replace('pay_', 're_'),
    profile_id: PROFILE_ID,
    created_at: modified,
    updated_at: modified,
  },
});

interface PaymentFields {
  readonly type: string;
  readonly status: string;
  readonly receivedMinor?: number;
  readonly capturableMinor?: number;
  readonly method?: string;
  readonly error?: object;
}

const PROFILE_ID = 'pro_7Kq2mVx9TzLw4RbN';

function paymentEvent(payment: Payment, modified: string, fields: PaymentFields): EventContent {
  return {
    eventType: fields.type,
    contentType: 'payment_details',
    object: {
      payment_id: payment.id,
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
      modified_at: modified,
      ...fields.error,
    },
  };
}

/** Spreads consecutive numbers, so that neighbors in time are not neighbors in an index. */
function scatter(n: number): string {
  return (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
}

/** Numbers from 0 up to 1 that follow from the seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

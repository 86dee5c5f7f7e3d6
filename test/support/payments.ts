/** Events of a shop's payments, for tests that read the ledger. */
import { eventBody, paymentObject, unique } from './events.ts';

export interface PaymentFields {
  readonly payment_id?: string;
  readonly orderId?: string;
  readonly [field: string]: unknown;
}

/** The event of a payment, which belongs to an order if `orderId` is set. */
export function paymentEvent({ orderId, ...fields }: PaymentFields): Buffer {
  return eventBody(
    paymentObject({ ...(orderId !== undefined && { metadata: { order_id: orderId } }), ...fields }),
  );
}

export function refundEvent(paymentId: string, fields: object = {}): Buffer {
  return eventBody(
    {
      refund_id: unique('ref'),
      payment_id: paymentId,
      amount: 1000,
      currency: 'USD',
      status: 'succeeded',
      modified_at: '2026-11-02T10:00:00.000Z',
      ...fields,
    },
    { eventType: 'refund_succeeded', contentType: 'refund_details' },
  );
}

export function disputeEvent(paymentId: string, fields: object = {}): Buffer {
  return eventBody(
    {
      dispute_id: unique('dp'),
      payment_id: paymentId,
      amount: '6540',
      currency: 'USD',
      dispute_stage: 'dispute',
      dispute_status: 'dispute_opened',
      challenge_required_by: '2026-11-20T10:00:00.000Z',
      updated_at: '2026-11-03T10:00:00.000Z',
      ...fields,
    },
    { eventType: 'dispute_opened', contentType: 'dispute_details' },
  );
}

export function payoutEvent(fields: object = {}): Buffer {
  return eventBody(
    {
      payout_id: unique('po'),
      amount: 2500,
      currency: 'EUR',
      status: 'failed',
      error_code: 'AC04',
      error_message: 'account closed',
      modified_at: '2026-11-03T10:00:00.000Z',
      ...fields,
    },
    { eventType: 'payout_failed', contentType: 'payout_details' },
  );
}

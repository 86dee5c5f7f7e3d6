/** Endpoint that refunds a payment. */
import { z } from 'zod';
import { type RefundedAs, type RefundInput, refundPaymentAs } from '../../actions/refundPayment.ts';
import { notRefundedText } from '../../representation/notDone.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { NO_SERVICE_KEY, NOT_DONE_STATUSES, notDoneOutcome } from '../notDone.ts';
import { amount, attemptNumber, currency, id, reasonGiven } from '../schemas.ts';

const result = z
  .strictObject({
    payment_id: z.string(),
    refund_id: z.string(),
    amount: amount.describe('What was refunded.'),
    currency,
    status: z
      .string()
      .nullable()
      .describe('Status of the refund at the service; null if it could not be retrieved.'),
    attempt: attemptNumber,
  })
  .meta({ id: 'RefundResult' });

export const refundPayment = defineEndpoint({
  id: 'refundPayment',
  method: 'post',
  path: '/api/v1/payments/{payment_id}/refund',
  permission: 'move_money',
  summary: 'Refund a payment, in full or in part',
  description:
    'Tallyhook retrieves the payment and its refunds first and afterwards. The request is refused with 409 ' +
    'unless exactly `expected_amount` can be refunded, or while another attempt has no result, so repeating ' +
    'it never moves money twice. What was captured can be refunded, without the refunds that did not fail ' +
    'and without disputed amounts. The audit log has an entry before the request to the service and one ' +
    'after it. The service receives the reason, too. 503: nothing was done, and it is safe to try again. ' +
    '504: the outcome is unknown; the same request finds out, and sends nothing if the refund exists. For an ' +
    'hour, another amount is refused with 409, unless what can be refunded has changed.',
  params: z.strictObject({ payment_id: id }),
  query: z.strictObject({}),
  body: z.strictObject({
    expected_amount: amount.min(1).describe('What can be refunded, as you saw it.'),
    currency,
    amount: amount
      .min(1)
      .optional()
      .describe('What to refund, at most `expected_amount`; all of it when left out.'),
    reason: reasonGiven.describe('Why; for the audit log and the service.'),
  }),
  response: result,
  statuses: NOT_DONE_STATUSES,
  handle: async ({ refunds }, { params: { payment_id: paymentId }, body, actor }) => {
    if (!refunds) return NO_SERVICE_KEY;
    const { expected_amount: expectedMinor, currency: of, reason } = body;
    const amountMinor = body.amount ?? expectedMinor;
    if (amountMinor > expectedMinor) {
      const message = 'The body is invalid: amount: must be at most expected_amount.';
      return { outcome: 'invalid', message };
    }
    const input = { paymentId, expectedMinor, currency: of, amountMinor, reason };
    return toOutcome(input, await refundPaymentAs(refunds, actor, input));
  },
});

function toOutcome(input: RefundInput, refunded: RefundedAs): Outcome<z.input<typeof result>> {
  const { paymentId, amountMinor, currency: of } = input;
  switch (refunded.outcome) {
    case 'done': {
      const { refundId, status, attempt } = refunded;
      const moved = { amount: amountMinor, currency: of, status, attempt };
      return { outcome: 'ok', body: { payment_id: paymentId, refund_id: refundId, ...moved } };
    }
    case 'claimed':
    case 'existing':
    case 'uncertain':
    case 'changed':
      return { outcome: 'conflict', message: notRefundedText(input, refunded) };
    default:
      return notDoneOutcome(refunded.outcome, notRefundedText(input, refunded));
  }
}

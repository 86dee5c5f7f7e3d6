/** Endpoint that refunds a payment. */
import { z } from 'zod';
import { type RefundedAs, type RefundInput, refundPaymentAs } from '../../actions/refundPayment.ts';
import { formatMoney } from '../../contract/money.ts';
import { defineEndpoint, type Outcome } from '../endpoint.ts';
import { amount, currency, id, reasonGiven } from '../schemas.ts';

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
    attempt: z.int().min(1).describe('Number of the attempt in the audit log.'),
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
    '504: the outcome is unknown; the same request finds out, and sends nothing if the refund exists.',
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
  statuses: [404, 409, 504],
  handle: async ({ refunds }, { params: { payment_id: paymentId }, body, actor }) => {
    if (!refunds) return { outcome: 'unavailable', message: NO_KEY };
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

const NO_KEY =
  'The process with the role console has no API key of the payment service. Set PAYMENTS_BASE_URL and ' +
  'PAYMENTS_API_KEY.';

function toOutcome(input: RefundInput, refunded: RefundedAs): Outcome<z.input<typeof result>> {
  const { paymentId, amountMinor, currency: of } = input;
  switch (refunded.outcome) {
    case 'done': {
      const { refundId, status, attempt } = refunded;
      const moved = { amount: amountMinor, currency: of, status, attempt };
      return { outcome: 'ok', body: { payment_id: paymentId, refund_id: refundId, ...moved } };
    }
    case 'claimed': {
      const message = `Attempt ${refunded.attempt} to refund ${paymentId} has no result yet. Nothing was done.`;
      return { outcome: 'conflict', message };
    }
    case 'existing': {
      const message = `The refund ${refunded.refundId} exists: an earlier attempt was carried out. Nothing was done now.`;
      return { outcome: 'conflict', message };
    }
    case 'changed':
      return changed(input, refunded);
    case 'refused':
      return { outcome: 'conflict', message: `The service refused: ${refunded.reason}.` };
    case 'failed':
      return {
        outcome: 'unavailable',
        message: `Nothing was done: ${refunded.reason}. It is safe to try again.`,
      };
    case 'unknown':
      return {
        outcome: 'unknown',
        message:
          `The outcome is unknown: ${refunded.reason}. Attempt ${refunded.attempt} in the audit log. The same ` +
          'request finds out, and sends nothing if the refund exists.',
      };
  }
}

function changed(
  { paymentId, expectedMinor, currency: of }: RefundInput,
  { now }: Extract<RefundedAs, { readonly outcome: 'changed' }>,
): Outcome<never> {
  if (now.outcome !== 'refundable') {
    const status = now.outcome === 'not_refundable' ? (now.status ?? 'unknown') : 'unknown';
    const message = `Nothing of ${paymentId} can be refunded: its status is ${status}. Nothing was done.`;
    return { outcome: 'conflict', message };
  }
  const left = formatMoney(now.payment.refundableMinor, now.payment.currency);
  const message = `${left} of ${paymentId} can be refunded, not ${formatMoney(expectedMinor, of)}. Nothing was done.`;
  return { outcome: 'conflict', message };
}

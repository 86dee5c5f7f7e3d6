/** Fields that the admin API and the webhooks of Tallyhook share. */
import { z } from 'zod';
import { RETRY_ADVICE } from '../contract/declines.ts';
import { RESOURCE_KINDS } from '../contract/resources/index.ts';
import { STATUSES } from '../contract/statuses.ts';
import { ORDER_STATUSES, REGISTERED } from './orderStatuses.ts';

export const amount = z.int().min(0).describe('Minor units of the currency beside it.');
export const difference = z
  .int()
  .describe('Minor units of the currency beside it; may be negative.');
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe('ISO 4217.');
export const time = z.iso.datetime().describe('UTC.');

export const namedBy = z
  .enum(['order', 'payment'])
  .describe(
    "`order`: the order has the shop's order id; `payment`: it has the id of its payment, which names no order.",
  );

export const orderStatus = z
  .enum([...ORDER_STATUSES, REGISTERED])
  .describe(
    'The first status that applies, over all currencies. `registered`: the shop registered the order, and no ' +
      'payment has arrived; `moved`: its payments now belong to another order.',
  );

export const resourceKind = z.enum(RESOURCE_KINDS);

export const resourceStatus = z
  .string()
  .nullable()
  .describe(
    `The service's own status; null until the resource itself arrives. Payments: ${STATUSES.payment.join(', ')}. ` +
      `Refunds: ${STATUSES.refund.join(', ')}. Disputes: ${STATUSES.dispute.join(', ')}. ` +
      'The service may add others.',
  );

export const reason = z
  .string()
  .nullable()
  .describe(
    "Why it failed, was canceled or, for a dispute, was opened: the service's codes and texts in one " +
      'line, without card numbers. Null if the state needs no reason or the service sent none.',
  );

export const uncertainties = z
  .array(z.string())
  .describe('Why the state needs a retrieve before you rely on it. Usually empty.');

export const openFindings = z.array(z.string()).describe('Classes of its open findings.');

const RETRIES = Object.keys(RETRY_ADVICE) as [keyof typeof RETRY_ADVICE];

/** The advice about a failed payment. */
export const decline = z
  .strictObject({
    unified_code: z.string().nullable().describe('Null if the service sent none.'),
    message: z.string().nullable().describe('May be shown to the customer.'),
    retry: z
      .enum(RETRIES)
      .nullable()
      .describe(
        Object.entries(RETRY_ADVICE)
          .map(([word, text]) => `\`${word}\`: ${text}`)
          .concat('Null: unknown, because there is no code.')
          .join(' '),
      ),
    may_retry: z
      .boolean()
      .nullable()
      .describe(
        'Whether the same payment method may be retried. Null: unknown, because there is no code.',
      ),
    may_use_another_method: z
      .boolean()
      .nullable()
      .describe(
        'Whether the customer may pay with another method. Null: unknown, because there is no code.',
      ),
    advice: z.string().describe('What it means and what to do, for operators.'),
  })
  .meta({ id: 'Decline' });

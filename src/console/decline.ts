/** Schema of the advice about a failed payment. */
import { z } from 'zod';
import { RETRY_ADVICE } from '../contract/declines.ts';

const RETRIES = Object.keys(RETRY_ADVICE) as [keyof typeof RETRY_ADVICE];

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

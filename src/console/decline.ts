/** The advice about a failed payment, in the schema of the API. */
import { z } from 'zod';
import { RETRY_ADVICE } from '../contract/declines.ts';

const RETRIES = Object.keys(RETRY_ADVICE) as [keyof typeof RETRY_ADVICE];

export const decline = z
  .strictObject({
    unified_code: z.string().nullable().describe('Null when the service gave none.'),
    message: z.string().nullable().describe('May be shown to the customer.'),
    retry: z
      .enum(RETRIES)
      .nullable()
      .describe(
        Object.entries(RETRY_ADVICE)
          .map(([word, text]) => `\`${word}\`: ${text}`)
          .concat('Null: no code tells.')
          .join(' '),
      ),
    may_retry: z
      .boolean()
      .nullable()
      .describe('Whether the same payment method may be tried again. Null: no code tells.'),
    may_use_another_method: z
      .boolean()
      .nullable()
      .describe('Whether the customer may pay with another method. Null: no code tells.'),
    advice: z.string().describe('What it means and what to do, for the operator.'),
  })
  .meta({ id: 'Decline' });

/** What to tell of a failed payment. */
import { z } from 'zod';
import { RETRY_ADVICE } from '../contract/declines.ts';
import { declineOf } from '../ledger/domain/explain.ts';

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

export interface Declined {
  readonly kind: string;
  readonly status: string | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
}

/** Null unless the payment failed: what an earlier attempt failed of is no advice any more. */
export function declineBody(payment: Declined): z.input<typeof decline> | null {
  if (payment.kind !== 'payment' || payment.status !== 'failed') return null;
  const { code, mayRetry, mayUseAnotherMethod, ...told } = declineOf(
    payment.unifiedCode ?? undefined,
    payment.unifiedMessage ?? undefined,
  );
  return {
    unified_code: code,
    may_retry: mayRetry,
    may_use_another_method: mayUseAnotherMethod,
    ...told,
  };
}

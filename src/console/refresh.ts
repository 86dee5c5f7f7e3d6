/** `refresh=1`: the service is asked before an order or a payment is shown. */
import { z } from 'zod';
import { REFRESH_TIMEOUT_MS, type Refreshed, type Refresher } from '../reconcile/refreshOnRead.ts';

export const refreshQuery = z
  .literal('1')
  .optional()
  .describe(
    `Asks the service first, for ${REFRESH_TIMEOUT_MS / 1000} seconds at most. Where that fails, what ` +
      'is known is answered, and `refresh` says so; where nothing is known either, the answer is 503.',
  );

export const refreshBody = z
  .strictObject({
    outcome: z
      .enum(['fresh', 'partly', 'failed', 'unknown', 'off'])
      .describe(
        '`fresh`: this is what the service says now. `partly`, `failed`: not all of its payments ' +
          'were heard of. `unknown`: the service shows no such payment. `off`: no key of the ' +
          'service is set.',
      ),
    reason: z.string().nullable().describe('Why it is not fresh.'),
  })
  .nullable()
  .describe('Null unless `refresh=1` was asked for.');

export type RefreshBody = z.input<typeof refreshBody>;

/** @param ask what to ask for; undefined when nobody wants it */
export async function refresh(
  refresher: Refresher | undefined,
  query: { readonly refresh?: '1' | undefined },
  ask: (refresher: Refresher) => Promise<Refreshed>,
): Promise<RefreshBody> {
  if (query.refresh === undefined) return null;
  if (!refresher) return { outcome: 'off', reason: 'no key of the service is set' };
  return { reason: null, ...(await ask(refresher)) };
}

/** What to answer about something that is not in the ledger, after the service was asked. */
export function notKnown(asked: RefreshBody, message: string) {
  const isUnanswered = asked?.outcome === 'failed' || asked?.outcome === 'partly';
  return isUnanswered
    ? ({
        outcome: 'unavailable',
        message: `The payment service could not be asked (${asked.reason}), and nothing is known here. Try again soon.`,
      } as const)
    : ({ outcome: 'not_found', message } as const);
}

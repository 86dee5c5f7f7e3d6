/** `refresh=1`: retrieves an order or a payment from the service before it is returned. */
import { z } from 'zod';
import { REFRESH_TIMEOUT_MS, type Refreshed, type Refresher } from '../reconcile/refreshOnRead.ts';

export const refreshQuery = z
  .literal('1')
  .optional()
  .describe(
    `Retrieves from the service first, for up to ${REFRESH_TIMEOUT_MS / 1000} seconds. If that fails, the ` +
      'response has what the ledger knows, and `refresh` states why; if it knows nothing, the response is 503.',
  );

export const refreshBody = z
  .strictObject({
    outcome: z
      .enum(['fresh', 'partly', 'failed', 'unknown', 'off'])
      .describe(
        '`fresh`: the state at the service now. `partly`, `failed`: some or all payments could not be ' +
          'retrieved, or whether an unpaid order has another payment is unknown. `unknown`: the service knows no such payment. `off`: no API key of the ' +
          'service is set.',
      ),
    reason: z.string().nullable().describe('Why it is not fresh.'),
  })
  .nullable()
  .describe('Null without `refresh=1`.');

export type RefreshBody = z.input<typeof refreshBody>;

/** @param retrieve what to retrieve */
export async function refresh(
  refresher: Refresher | undefined,
  query: { readonly refresh?: '1' | undefined },
  retrieve: (refresher: Refresher) => Promise<Refreshed>,
): Promise<RefreshBody> {
  if (query.refresh === undefined) return null;
  if (!refresher) return { outcome: 'off', reason: 'no API key of the service is set' };
  return { reason: null, ...(await retrieve(refresher)) };
}

/** The response about something that is neither in the ledger nor was retrieved. */
export function notKnown(refreshed: RefreshBody, message: string) {
  const hasFailed = refreshed?.outcome === 'failed' || refreshed?.outcome === 'partly';
  return hasFailed
    ? ({
        outcome: 'unavailable',
        message: `The payment service did not respond (${refreshed.reason}), and the ledger knows nothing under this id. Try again soon.`,
      } as const)
    : ({ outcome: 'not_found', message } as const);
}

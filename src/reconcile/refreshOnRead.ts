/**
 * Retrieves an order or a payment before it is shown, within a bounded time: for the page that a
 * customer returns to, while the webhook may still be on its way. A response a moment old is better than
 * none, so nothing here fails.
 */
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { type NamedOrder, resolveOrder } from '../ledger/read/orders.ts';
import { readOrderParts } from '../ledger/read/store/parts.ts';
import {
  type DiscoveryParts,
  discoverPayments,
  type RetrievedResource,
  retrieveOne,
  retrievePayment,
} from './discoverPayments.ts';

/** How much of it the service confirmed. */
export type Refreshed =
  /** Every payment was retrieved and applied. */
  | { readonly outcome: 'fresh' }
  /** Some were, or none; the response shows what the ledger has. */
  | { readonly outcome: 'partly' | 'failed'; readonly reason: string }
  /** The service responded that it has no payment of it. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface Refresher {
  order(name: NamedOrder): Promise<Refreshed>;
  payment(id: string): Promise<Refreshed>;
  resource(ref: ResourceRef): Promise<Refreshed>;
}

/** As long as a customer is kept waiting. */
export const REFRESH_TIMEOUT_MS = 3_000;

/** More than any order has, unless something is wrong with it; the newest are retrieved. */
const MAX_PAYMENTS = 10;

export function createRefresher(
  parts: DiscoveryParts & { readonly timeoutMs?: number },
): Refresher {
  const { timeoutMs = REFRESH_TIMEOUT_MS } = parts;
  const refreshAll = async (ids: readonly string[], signal: AbortSignal): Promise<Refreshed> =>
    summarize(await Promise.all(ids.map((id) => retrievePayment(parts, id, signal))));
  return {
    payment: (id) => refreshAll([id], AbortSignal.timeout(timeoutMs)),
    resource: async (ref) => {
      const signal = AbortSignal.timeout(timeoutMs);
      return summarize([await retrieveOne(parts, ref, signal)]);
    },
    order: async (name) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const ids = await paymentsOf(parts, name);
      if (ids.length > 0) {
        return limited(await refreshAll(ids.slice(-MAX_PAYMENTS), signal), ids.length);
      }
      const { payments, listFailure } = await discoverPayments(parts, name, signal);
      return listFailure === undefined
        ? summarize(payments)
        : { outcome: 'failed', reason: listFailure };
    },
  };
}

/** The payments that the ledger has of an order, oldest first. */
async function paymentsOf({ db }: DiscoveryParts, name: NamedOrder): Promise<readonly string[]> {
  const order = await resolveOrder(db, name);
  if (!order) return [];
  const parts = await readOrderParts(db, order.orderKey);
  return parts.filter(({ kind }) => kind === 'payment').map(({ id }) => id);
}

/** An order is not fresh while some of its payments were left out. */
function limited(refreshed: Refreshed, payments: number): Refreshed {
  if (refreshed.outcome !== 'fresh' || payments <= MAX_PAYMENTS) return refreshed;
  return {
    outcome: 'partly',
    reason: `only the newest ${MAX_PAYMENTS} payments of the order were retrieved`,
  };
}

function summarize(payments: readonly RetrievedResource[]): Refreshed {
  const applied = payments.filter(({ retrieved }) => retrieved.outcome === 'applied');
  if (applied.length > 0 && applied.length === payments.length) return { outcome: 'fresh' };
  const [failed] = payments.flatMap(({ retrieved }) =>
    retrieved.outcome === 'failed' ? [retrieved] : [],
  );
  const reason = failed?.reason ?? 'the service does not know it';
  if (applied.length > 0) return { outcome: 'partly', reason };
  // A refusal is a response, too: no payment can have the id.
  const hasResponse = failed === undefined || failed.failure === 'refused';
  return { outcome: hasResponse ? 'unknown' : 'failed', reason };
}

/**
 * Retrieves an order or a payment before it is shown, within a bounded time: for the page that a
 * customer returns to, while the webhook may still be on its way. A response a moment old is better than
 * none, so nothing here fails.
 *
 * After a payment that failed or was left, a customer may have paid with another one, of which the ledger may
 * not know yet. So an order is fresh only if one of its payments is paid or on its way, or the service's newest payments
 * were searched for another.
 */
import type { PaymentStatus } from '../contract/statuses.ts';
import { namedOrderId } from '../ledger/domain/orderKey.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { type NamedOrder, resolveOrder } from '../ledger/read/orders.ts';
import { readOrderParts } from '../ledger/read/store/parts.ts';
import {
  type DiscoveryParts,
  discoverListed,
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
  return {
    payment: async (id) =>
      summarize([await retrievePayment(parts, id, AbortSignal.timeout(timeoutMs))]),
    resource: async (ref) => {
      const signal = AbortSignal.timeout(timeoutMs);
      return summarize([await retrieveOne(parts, ref, signal)]);
    },
    order: async (name) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const order = await resolveOrder(parts.db, name);
      const known = order ? await paymentsOf(parts, order.orderKey) : [];
      if (order && known.length > 0) {
        return await refreshKnown(parts, { orderKey: order.orderKey, known }, signal);
      }
      const { payments, listFailure } = await discoverPayments(parts, name, signal);
      return listFailure === undefined
        ? summarize(payments)
        : { outcome: 'failed', reason: listFailure };
    },
  };
}

/** The payments that the ledger has of an order, oldest first. */
async function paymentsOf({ db }: DiscoveryParts, orderKey: string): Promise<readonly string[]> {
  const parts = await readOrderParts(db, orderKey);
  return parts.filter(({ kind }) => kind === 'payment').map(({ id }) => id);
}

/** @param order its key, and its payments in the ledger, oldest first */
async function refreshKnown(
  parts: DiscoveryParts,
  { orderKey, known }: { readonly orderKey: string; readonly known: readonly string[] },
  signal: AbortSignal,
): Promise<Refreshed> {
  const newest = known.slice(-MAX_PAYMENTS);
  const payments = await Promise.all(newest.map((id) => retrievePayment(parts, id, signal)));
  const orderId = namedOrderId(orderKey);
  if (orderId === undefined || !payments.every(isUnpaid)) {
    return limited(summarize(payments), known.length);
  }
  const wanted = { orderId, known: new Set(known) };
  const { payments: others, listFailure } = await discoverListed(parts, wanted, signal);
  if (listFailure !== undefined) {
    const reason = `whether the order has another payment is unknown: ${listFailure}`;
    return { outcome: 'partly', reason };
  }
  return limited(summarize([...payments, ...others]), known.length);
}

/** Statuses after which a customer may pay with another payment. */
const UNPAID: ReadonlySet<string | null> = new Set<PaymentStatus>([
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'requires_customer_action',
  'requires_redirection',
  'failed',
  'cancelled',
  'expired',
]);

/** Whether the service shows that a payment is not paid. */
function isUnpaid({ retrieved }: RetrievedResource): boolean {
  return retrieved.outcome === 'applied' && UNPAID.has(retrieved.after.status);
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

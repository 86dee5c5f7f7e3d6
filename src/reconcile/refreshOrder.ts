/**
 * Brings an order up to date before it is shown: its payments are retrieved and applied, within a
 * bounded time. For the page that a customer returns to, where the webhook may still be on its way:
 * an answer that is a little old serves better than none, so that nothing here fails.
 */
import { PaymentServiceError } from '../client/index.ts';
import { type NamedOrder, resolveOrder } from '../ledger/readOrders.ts';
import { readOrderParts } from '../ledger/store/reading.ts';
import type { Database } from '../platform/db/database.ts';
import type { Retrieve, Retrieved } from './retrieve.ts';

/** How far the service was heard. */
export type OrderRefresh =
  /** Every payment was retrieved and applied. */
  | { readonly outcome: 'fresh' }
  /** Some, or none, were; what is known is shown. */
  | { readonly outcome: 'partly' | 'failed'; readonly reason: string };

export type RefreshOrder = (name: NamedOrder) => Promise<OrderRefresh>;

/** A customer waits. */
export const REFRESH_TIMEOUT_MS = 3_000;

/** More than any order has, unless something is wrong with it. */
const MAX_PAYMENTS = 10;

export function createRefreshOrder({
  db,
  retrieve,
  timeoutMs = REFRESH_TIMEOUT_MS,
}: {
  readonly db: Database;
  readonly retrieve: Retrieve;
  readonly timeoutMs?: number;
}): RefreshOrder {
  const ask = async (id: string, signal: AbortSignal): Promise<Retrieved> => {
    try {
      return await retrieve({ kind: 'payment', id }, { lane: 'operator', signal });
    } catch (error) {
      if (!(error instanceof PaymentServiceError)) throw error;
      const reason = `the service did not answer within ${timeoutMs} ms`;
      return { outcome: 'failed', trouble: 'away', reason };
    }
  };
  return async (name) => {
    const ids = await paymentsOf(db, name);
    const signal = AbortSignal.timeout(timeoutMs);
    const found = await Promise.all(ids.map((id) => ask(id, signal)));
    const [trouble] = found.filter(({ outcome }) => outcome !== 'applied');
    if (!trouble) return { outcome: 'fresh' };
    const outcome = found.some((one) => one.outcome === 'applied') ? 'partly' : 'failed';
    const reason =
      trouble.outcome === 'failed' ? trouble.reason : 'the service does not know the payment';
    return { outcome, reason };
  };
}

/** An order that nobody has heard of may be a payment whose first webhook is on its way. */
async function paymentsOf(db: Database, name: NamedOrder): Promise<readonly string[]> {
  const order = await resolveOrder(db, name);
  if (!order) return name.by === 'order' ? [] : [name.id];
  const parts = await readOrderParts(db, order.orderKey);
  return parts
    .filter(({ kind }) => kind === 'payment')
    .map(({ id }) => id)
    .slice(-MAX_PAYMENTS);
}

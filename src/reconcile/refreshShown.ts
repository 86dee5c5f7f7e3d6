/**
 * Brings an order or a payment up to date before it is shown: the service is asked and its answers are
 * applied, within a bounded time. For the page that a customer returns to, where the webhook may still
 * be on its way: an answer that is a little old serves better than none, so that nothing here fails.
 */
import { type NamedOrder, resolveOrder } from '../ledger/read/orders.ts';
import { readOrderParts } from '../ledger/read/store/parts.ts';
import { type FindParts, findPayments, type Looked, look } from './findPayments.ts';

/** How far the service was heard. */
export type Refreshed =
  /** Every payment was retrieved and applied. */
  | { readonly outcome: 'fresh' }
  /** Some, or none, were; what is known is shown. */
  | { readonly outcome: 'partly' | 'failed'; readonly reason: string }
  /** The service was asked, and knows no payment of it. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface Refresher {
  order(name: NamedOrder): Promise<Refreshed>;
  payment(id: string): Promise<Refreshed>;
}

/** A customer waits. */
export const REFRESH_TIMEOUT_MS = 3_000;

/** More than any order has, unless something is wrong with it. */
const MAX_PAYMENTS = 10;

export function createRefresher(parts: FindParts & { readonly timeoutMs?: number }): Refresher {
  const { timeoutMs = REFRESH_TIMEOUT_MS } = parts;
  const ask = async (ids: readonly string[], signal: AbortSignal): Promise<Refreshed> =>
    judge(await Promise.all(ids.map((id) => look(parts, id, signal))));
  return {
    payment: (id) => ask([id], AbortSignal.timeout(timeoutMs)),
    order: async (name) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const ids = await paymentsOf(parts, name);
      if (ids.length > 0) return await ask(ids, signal);
      const { looked, trouble } = await findPayments(parts, name, signal);
      return trouble === undefined ? judge(looked) : { outcome: 'failed', reason: trouble };
    },
  };
}

/** Of the payments that the ledger has of an order, the newest. */
async function paymentsOf({ db }: FindParts, name: NamedOrder): Promise<readonly string[]> {
  const order = await resolveOrder(db, name);
  if (!order) return [];
  const parts = await readOrderParts(db, order.orderKey);
  return parts
    .filter(({ kind }) => kind === 'payment')
    .map(({ id }) => id)
    .slice(-MAX_PAYMENTS);
}

function judge(looked: readonly Looked[]): Refreshed {
  const applied = looked.filter(({ retrieved }) => retrieved.outcome === 'applied');
  if (applied.length > 0 && applied.length === looked.length) return { outcome: 'fresh' };
  const [failure] = looked.flatMap(({ retrieved }) =>
    retrieved.outcome === 'failed' ? [retrieved] : [],
  );
  const reason = failure?.reason ?? 'the service does not know the payment';
  if (applied.length > 0) return { outcome: 'partly', reason };
  // It answered: an id that it refuses, such as one that no payment can have, is none of its own.
  const isAnswered = failure === undefined || failure.trouble === 'refused';
  return { outcome: isAnswered ? 'unknown' : 'failed', reason };
}

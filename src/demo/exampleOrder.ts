/** The order that the demo leaves to look at. Pure. */
import type { ComparedOrder } from './compare.ts';
import { planOrders, type Story } from './plan.ts';

export interface ExampleOrder {
  readonly orderId: string;
  /** What it shows. */
  readonly what: string;
}

/** Stories that show the most, the best first. */
const SHOWN: readonly (readonly [Story, string])[] = [
  ['refunded_in_parts', 'an order that was refunded in parts'],
  ['refunded', 'an order that was refunded'],
  ['paid', 'an order that was paid'],
];

const ORDER_PREFIX = 'order:';

/**
 * An order of which a webhook was lost, because reconciliation repaired it; otherwise one with a story that shows much.
 */
export function exampleOrder(
  { orders, seed }: { readonly orders: number; readonly seed: number },
  afterWebhooks: readonly ComparedOrder[],
): ExampleOrder {
  const plan = planOrders(orders, seed);
  const planned = new Set(plan.map(({ orderId }) => `${ORDER_PREFIX}${orderId}`));
  const lost = afterWebhooks.find(
    ({ outcome, orderKey }) => outcome === 'lost' && planned.has(orderKey),
  );
  if (lost) {
    const orderId = lost.orderKey.slice(ORDER_PREFIX.length);
    return { orderId, what: 'an order of which a webhook was lost' };
  }
  for (const [story, what] of SHOWN) {
    const found = plan.find((order) => order.story === story);
    if (found) return { orderId: found.orderId, what };
  }
  return { orderId: plan[0]?.orderId ?? '', what: 'an order' };
}

/** Keys of orders, and the ids that they stand for. */

/**
 * The key of an order: `order:…` if the payment names the shop's order, else `payment:…`. The prefix
 * prevents collisions between order ids and payment ids.
 */
export function orderKeyOf(payment: {
  readonly id: string;
  readonly orderId?: string | undefined;
}): string {
  return payment.orderId === undefined ? `payment:${payment.id}` : `order:${payment.orderId}`;
}

/** The id of an order for people: the shop's order id, or else the payment's id. */
export function orderIdOf(orderKey: string): string {
  return orderKey.slice(orderKey.indexOf(':') + 1);
}

/** The shop's order id; undefined if the key is a payment's or null. */
export function namedOrderId(orderKey: string | null): string | undefined {
  return orderKey?.startsWith('order:') ? orderIdOf(orderKey) : undefined;
}

/** The keys that an id may mean: of a shop's order, of a payment, or the id itself as a key. */
export function orderKeysNamed(id: string): readonly string[] {
  return [orderKeyOf({ id, orderId: id }), orderKeyOf({ id }), id];
}

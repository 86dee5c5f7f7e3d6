/**
 * The statuses of an order, each with what an order webhook of its name reports. Programs outside depend on
 * these names: none is changed or removed.
 */
export const ORDER_EVENTS = {
  charged_back: 'A dispute was lost, accepted or not contested in time: the money is gone.',
  disputed: 'A customer disputes a payment, and the dispute is open.',
  refunded: 'All captured money was refunded.',
  partially_refunded: 'Some of the captured money was refunded.',
  paid: 'A payment succeeded: its money is captured.',
  partially_captured: 'Some of the money of a payment was captured.',
  authorized: 'The money is held, and none of it is captured yet.',
  pending: 'A payment waits: for the customer, the bank or a confirmation.',
  expired: 'The authorization expired before it was captured: the money is no longer held.',
  cancelled: 'The payment was canceled before its capture, or voided after it.',
  failed: 'The payment failed. Another attempt can still pay the order.',
  moved: 'The payments of the order now belong to another order; `moved_to` has its key.',
} as const satisfies Record<string, string>;

/** A status of an order that has or had payments. */
export type OrderEvent = keyof typeof ORDER_EVENTS;

/** Every status. `registered`: the shop registered the order, and no payment has arrived. */
export const ORDER_STATUSES = [
  ...(Object.keys(ORDER_EVENTS) as OrderEvent[]),
  'registered',
] as const;

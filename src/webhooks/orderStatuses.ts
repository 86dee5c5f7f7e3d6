/**
 * The words that describe an order. Programs outside depend on them: none is changed or removed.
 */

/**
 * The statuses that payments give an order, each with what the order webhook of its name reports. In order
 * of precedence, the most important for a shop first: an order has the first that applies to its parts.
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

export type OrderStatus = keyof typeof ORDER_EVENTS;
export const ORDER_STATUSES = Object.keys(ORDER_EVENTS) as readonly OrderStatus[];

/** Status of an order that the shop registered and that has no payment in the ledger. */
export const REGISTERED = 'registered';

/** How the captured amount of an order compares with the expected one. */
export const COMPARISONS = ['unpaid', 'underpaid', 'paid', 'overpaid', 'other_currency'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * The plan of the simulated shop: a list of orders derived from a seed. Pure.
 *
 * A *story* is the life cycle of one order. The first orders of a plan use each story once; the stories
 * of the others are chosen at random by weight.
 */
import { seededRandom } from '../platform/random.ts';

/** Stories and their weights. */
const STORIES = {
  paid: 30,
  declined: 6,
  declined_then_paid: 8,
  captured: 8,
  captured_in_parts: 6,
  authorization_cancelled: 4,
  authorized: 5,
  customer_action: 6,
  in_review: 3,
  processing: 3,
  refunded: 6,
  refunded_in_parts: 6,
  refund_failed_late: 3,
  dispute_open: 3,
  dispute_won: 3,
  dispute_lost: 3,
  payout: 5,
  payout_reversed: 2,
} as const;
export type Story = keyof typeof STORIES;

export interface PlannedOrder {
  /** The shop's order id, and the beginning of all ids that belong to it. */
  readonly orderId: string;
  readonly story: Story;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
}

const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD'] as const;

/**
 * Outside the amounts that select an outcome in the sandbox: below those of payments, and half of one
 * is above those of refunds (docs/reference/sandbox.md).
 */
const MAX_AMOUNT_MINOR = 50_000;
const MIN_AMOUNT_MINOR = 16_000;

/** @param orders how many; @param seed a whole number */
export function planOrders(orders: number, seed: number): readonly PlannedOrder[] {
  const random = seededRandom(seed);
  const names = Object.keys(STORIES) as Story[];
  return Array.from({ length: orders }, (_, n) => ({
    orderId: `demo-${seed}-${n + 1}`,
    story: names[n] ?? drawStory(random()),
    amountMinor: MIN_AMOUNT_MINOR + Math.floor(random() * (MAX_AMOUNT_MINOR - MIN_AMOUNT_MINOR)),
    currency: CURRENCIES[Math.floor(random() * CURRENCIES.length)] ?? 'USD',
  }));
}

function drawStory(chance: number): Story {
  const weights = Object.entries(STORIES) as [Story, number][];
  let rest = chance * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [story, weight] of weights) {
    rest -= weight;
    if (rest < 0) return story;
  }
  return 'paid';
}

/**
 * Scenarios of the sandbox: each sets the faults that it needs, plays one order, and leaves the faults as
 * they were. What is to be seen afterwards is part of its description.
 */
import type { ResourceKind } from '../contract/resources/index.ts';
import type { FaultShares } from './namedFaults.ts';
import { withShares } from './namedFaults.ts';
import { placePayment, placePayout } from './play.ts';
import type { Purchase, Shop } from './shop.ts';

export interface Scenario {
  readonly title: string;
  /** What goes wrong, in one sentence. */
  readonly summary: string;
  /** What was done, in order. */
  readonly steps: readonly string[];
  /** What to watch, in order. */
  readonly watch: readonly string[];
  /** Whether the ledger needs a reconcile run to learn of it. */
  readonly needsReconciliation: boolean;
  readonly play: (shop: Shop, purchase: Purchase, seen: Seen) => Promise<void>;
}

/** Waits until the ledger has a resource in a status, so that it sees each step of a scenario. */
export type Seen = (kind: ResourceKind, id: string, status: string) => Promise<void>;

const pay = (shop: Shop, purchase: Purchase, capture: 'automatic' | 'manual' | 'manual_multiple') =>
  placePayment(shop, { ...purchase, outcome: 'succeeds', capture });

export const SCENARIOS = {
  webhook_lost: {
    title: 'A webhook is lost',
    summary: 'The customer has paid, and the webhook about it never arrives.',
    steps: ['A customer pays.', 'The service loses the webhook, and never sends it again.'],
    watch: [
      'The service shows the payment, and the ledger does not know it.',
      'Reconcile: the run lists the payments of the service, finds the missing one and retrieves it.',
      'Both sides are equal, and the event is counted as a missed webhook.',
    ],
    needsReconciliation: true,
    play: (shop, purchase) =>
      withFaults(shop, { lost: 1 }, async () => {
        await pay(shop, purchase, 'automatic');
      }),
  },
  refund_fails_late: {
    title: 'A refund fails late',
    summary: 'A refund succeeds, and days later the bank of the customer rejects it.',
    steps: [
      'A customer pays.',
      'The shop refunds everything.',
      'The refund fails after it succeeded.',
    ],
    watch: [
      'The refund is failed on both sides, and the order has its money back.',
      'The journal has the refund and its reversal: nothing is overwritten.',
      'An alert names the amount, and advises to pay the customer another way.',
    ],
    needsReconciliation: false,
    play: async (shop, purchase, seen) => {
      const paymentId = await pay(shop, purchase, 'automatic');
      const refundId = `${purchase.orderId}-r1`;
      await shop.client.refunds.create({ payment_id: paymentId, refund_id: refundId });
      await seen('refund', refundId, 'succeeded');
      await shop.control.moveRefund(refundId, 'failed');
    },
  },
  authorization_lapses: {
    title: 'An authorization lapses',
    summary: 'The money is reserved, nobody captures it in time, and the hold ends.',
    steps: [
      'A customer authorizes a payment.',
      'Nobody captures it, and the authorization expires.',
    ],
    watch: [
      'The payment is expired on both sides, and no money was captured.',
      'An alert names the amount that was lost.',
      'Authorizations lists holds by deadline, so that this does not happen.',
    ],
    needsReconciliation: false,
    play: async (shop, purchase, seen) => {
      const paymentId = await pay(shop, purchase, 'manual');
      await seen('payment', paymentId, 'requires_capture');
      await shop.control.lapse(paymentId);
    },
  },
  dispute_lost: {
    title: 'A dispute is lost',
    summary: 'The customer disputes a payment, and the bank decides against the shop.',
    steps: [
      'A customer pays.',
      'The customer opens a dispute.',
      'The bank decides for the customer.',
    ],
    watch: [
      'The dispute is lost on both sides, and its amount is charged back.',
      'The order shows the money as gone; the journal has the transfer.',
      'One alert has the dispute with its deadline, another the loss.',
    ],
    needsReconciliation: false,
    play: async (shop, purchase, seen) => {
      const disputeId = await shop.control.openDispute(await pay(shop, purchase, 'automatic'));
      await seen('dispute', disputeId, 'opened');
      await shop.control.moveDispute(disputeId, 'lost');
    },
  },
  paid_twice: {
    title: 'A customer pays twice',
    summary: 'Two payments of one order succeed.',
    steps: ['A customer pays.', 'The page hangs, and the customer pays again.'],
    watch: [
      'The order has captured twice its amount.',
      'A finding is opened at once. The alert follows after a minute, when the service has confirmed both payments.',
      'Refund one of them, beside it in the table or on its page: the finding closes.',
    ],
    needsReconciliation: false,
    play: async (shop, purchase) => {
      await pay(shop, purchase, 'automatic');
      const again = { ...purchase, outcome: 'succeeds', capture: 'automatic' } as const;
      await placePayment(shop, again, `${purchase.orderId}-2`);
    },
  },
  shuffled: {
    title: 'Webhooks come twice and out of order',
    summary:
      'A payment is captured in two parts, and its webhooks arrive late, doubled and shuffled.',
    steps: [
      'A customer authorizes a payment.',
      'The shop captures it in two parts, and refunds one.',
      'Each webhook is sent twice; half of them are held back for 5 seconds.',
    ],
    watch: [
      'States change as webhooks arrive: an old one never replaces a newer one.',
      'The duplicates are acknowledged, and change nothing.',
      'After a few seconds both sides are equal.',
    ],
    needsReconciliation: false,
    play: (shop, purchase) =>
      withFaults(shop, { doubled: 1, reordered: 0.5 }, async () => {
        const paymentId = await pay(shop, purchase, 'manual_multiple');
        const first = Math.ceil(purchase.amountMinor / 2);
        for (const amount_to_capture of [first, purchase.amountMinor - first]) {
          await shop.client.payments.capture(paymentId, { amount_to_capture });
        }
        const refundId = `${purchase.orderId}-r1`;
        await shop.client.refunds.create({
          payment_id: paymentId,
          refund_id: refundId,
          amount: first,
        });
      }),
  },
  payout_fails: {
    title: 'A payout comes back',
    summary: 'A supplier is paid, and the bank sends the money back.',
    steps: ['The shop pays a supplier.', 'The bank of the supplier sends the money back.'],
    watch: [
      'The payout is reversed on both sides.',
      'An alert names the amount, and its page what to do next.',
    ],
    needsReconciliation: false,
    play: async (shop, purchase, seen) => {
      const payoutId = await placePayout(shop, purchase);
      await seen('payout', payoutId, 'success');
      await shop.control.movePayout(payoutId, 'reversed');
    },
  },
} as const satisfies Readonly<Record<string, Scenario>>;
export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

/** Sets faults for as long as `work` takes, then the former ones. */
async function withFaults(
  { control }: Shop,
  shares: Partial<FaultShares>,
  work: () => Promise<void>,
): Promise<void> {
  const before = await control.faults();
  await control.setFaults(withShares(before, shares));
  try {
    await work();
  } finally {
    await control.setFaults(before);
  }
}

/**
 * The simulated shop: plays the story of an order through the client, as a shop would, and has the
 * sandbox act for customers, banks and the service.
 */
import type { CreatePaymentRequest, PaymentServiceClient } from '../client/index.ts';
import type { SandboxControl } from './control.ts';
import type { PlannedOrder, Story } from './plan.ts';

export interface Shop {
  readonly client: PaymentServiceClient;
  readonly control: SandboxControl;
  readonly profileId: string;
}

/** Test cards of the sandbox (docs/reference/sandbox.md) by outcome. */
const CARDS = {
  succeeds: '4242424242424242',
  declined: '4000000000010019',
  customer_action: '4000000000300006',
  processing: '4000000000500001',
  review: '4000000000700007',
} as const;

/** What is paid, or paid out. */
export type Purchase = Omit<PlannedOrder, 'story'>;

/** What a story needs to play one order. */
interface Play {
  readonly shop: Shop;
  readonly order: PlannedOrder;
  readonly paymentId: string;
  readonly refundId: string;
  pay(changes?: PaymentChanges): Promise<unknown>;
}

/** Plays one order. */
export async function playOrder(shop: Shop, order: PlannedOrder): Promise<void> {
  const paymentId = `${order.orderId}-1`;
  await PLAYS[order.story]({
    shop,
    order,
    paymentId,
    refundId: `${order.orderId}-r1`,
    pay: (changes = {}) =>
      shop.client.payments.create(paymentRequest(shop, order, { paymentId, ...changes })),
  });
}

const PLAYS: Readonly<Record<Story, (play: Play) => Promise<unknown>>> = {
  paid: ({ pay }) => pay(),
  declined: ({ pay }) => pay({ card: CARDS.declined }),
  declined_then_paid: async ({ pay, order }) => {
    await pay({ card: CARDS.declined });
    await pay({ paymentId: `${order.orderId}-2` });
  },
  captured: async ({ pay, paymentId, shop }) => {
    await pay({ captureMethod: 'manual' });
    await shop.client.payments.capture(paymentId);
  },
  captured_in_parts: async ({ pay, order, paymentId, shop }) => {
    await pay({ captureMethod: 'manual_multiple' });
    for (const amount_to_capture of halves(order.amountMinor)) {
      await shop.client.payments.capture(paymentId, { amount_to_capture });
    }
  },
  authorization_cancelled: async ({ pay, paymentId, shop }) => {
    await pay({ captureMethod: 'manual' });
    await shop.client.payments.cancel(paymentId, { cancellation_reason: 'out of stock' });
  },
  authorized: ({ pay }) => pay({ captureMethod: 'manual' }),
  customer_action: async ({ pay, paymentId, shop }) => {
    await pay({ card: CARDS.customer_action });
    await shop.control.actAsCustomer(paymentId);
  },
  in_review: async ({ pay, paymentId, shop }) => {
    await pay({ card: CARDS.review });
    await shop.client.payments.approve(paymentId);
  },
  processing: ({ pay }) => pay({ card: CARDS.processing }),
  refunded: async (play) => {
    await play.pay();
    await refund(play);
  },
  refunded_in_parts: async ({ pay, order, paymentId, shop }) => {
    await pay();
    for (const [n, amount] of halves(order.amountMinor).entries()) {
      const refund_id = `${order.orderId}-r${n + 1}`;
      await shop.client.refunds.create({ payment_id: paymentId, refund_id, amount });
    }
  },
  refund_failed_late: async (play) => {
    await play.pay();
    await refund(play);
    await play.shop.control.moveRefund(play.refundId, 'failed');
  },
  dispute_open: async ({ pay, paymentId, shop }) => {
    await pay();
    await shop.control.openDispute(paymentId);
  },
  dispute_won: (play) => disputed(play, 'won'),
  dispute_lost: (play) => disputed(play, 'lost'),
  payout: ({ order, shop }) => payOut(shop, order),
  payout_reversed: async ({ order, shop }) => {
    await shop.control.movePayout(await payOut(shop, order), 'reversed');
  },
};

async function refund({ paymentId, refundId, shop }: Play): Promise<void> {
  await shop.client.refunds.create({ payment_id: paymentId, refund_id: refundId });
}

async function disputed({ pay, paymentId, shop }: Play, status: 'won' | 'lost'): Promise<void> {
  await pay();
  await shop.control.moveDispute(await shop.control.openDispute(paymentId), status);
}

/** Two parts that add up to the amount, even if it is odd. */
function halves(amountMinor: number): readonly [number, number] {
  const first = Math.ceil(amountMinor / 2);
  return [first, amountMinor - first];
}

export interface PaymentChanges {
  readonly paymentId?: string;
  readonly card?: string;
  readonly captureMethod?: 'manual' | 'manual_multiple' | undefined;
}

export function paymentRequest(
  { profileId }: Shop,
  { orderId, amountMinor, currency }: Purchase,
  { paymentId, card = CARDS.succeeds, captureMethod }: PaymentChanges,
): CreatePaymentRequest {
  return {
    amount: amountMinor,
    currency,
    profile_id: profileId,
    ...(paymentId !== undefined && { payment_id: paymentId }),
    confirm: true,
    ...(captureMethod && { capture_method: captureMethod }),
    payment_method: 'card',
    payment_method_data: {
      card: {
        card_number: card,
        card_exp_month: '12',
        card_exp_year: '2039',
        card_cvc: '123',
      },
    },
    return_url: 'https://shop.example/thanks',
    billing: {
      address: {
        line1: '1 Main Street',
        city: 'Springfield',
        state: 'IL',
        zip: '62701',
        country: 'US',
        first_name: 'Ada',
        last_name: 'Lovelace',
      },
      phone: { number: '5550100', country_code: '+1' },
    },
    metadata: { order_id: orderId },
  };
}

/** Pays a supplier from a bank account. @returns the payout id */
export async function payOut(shop: Shop, purchase: Purchase): Promise<string> {
  const payoutId = await confirmPayout(shop, purchase);
  await shop.client.payouts.fulfill(payoutId);
  return payoutId;
}

/** Confirms a payout, without sending its money. @returns the payout id */
export async function confirmPayout(
  { client }: Shop,
  { orderId, amountMinor, currency }: Purchase,
): Promise<string> {
  const payout = await client.payouts.create({
    merchant_order_reference_id: orderId,
    amount: amountMinor,
    currency,
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'COBADEFFXXX',
      },
    },
    confirm: true,
    auto_fulfill: false,
  });
  return payout.payout_id;
}

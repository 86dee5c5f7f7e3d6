/**
 * The simulated shop: plays the story of an order through the client, as a shop would, and has the
 * sandbox do what customers, their banks and the service do.
 */
import type { CreatePaymentRequest, PaymentServiceClient } from '../client/index.ts';
import { assertNever } from '../platform/errors.ts';
import type { SandboxControl } from './control.ts';
import type { PlannedOrder } from './plan.ts';

export interface Shop {
  readonly client: PaymentServiceClient;
  readonly control: SandboxControl;
  readonly profileId: string;
}

/** Test cards of the sandbox (docs/sandbox.md) by what comes of them. */
const CARDS = {
  succeeds: '4242424242424242',
  declined: '4000000000010019',
  customer_action: '4000000000300006',
  processing: '4000000000500001',
  review: '4000000000700007',
} as const;

/** Plays one order. */
export async function playOrder(shop: Shop, order: PlannedOrder): Promise<void> {
  const { client, control } = shop;
  const paymentId = `${order.orderId}-1`;
  const pay = (changes: PaymentChanges = {}) =>
    client.payments.create(paymentRequest(shop, order, { paymentId, ...changes }));
  const half = Math.ceil(order.amountMinor / 2);

  switch (order.story) {
    case 'paid':
      await pay();
      return;
    case 'declined':
      await pay({ card: CARDS.declined });
      return;
    case 'declined_then_paid':
      await pay({ card: CARDS.declined });
      await pay({ paymentId: `${order.orderId}-2` });
      return;
    case 'captured':
      await pay({ captureMethod: 'manual' });
      await client.payments.capture(paymentId);
      return;
    case 'captured_in_parts':
      await pay({ captureMethod: 'manual_multiple' });
      await client.payments.capture(paymentId, { amount_to_capture: half });
      await client.payments.capture(paymentId, { amount_to_capture: order.amountMinor - half });
      return;
    case 'authorization_cancelled':
      await pay({ captureMethod: 'manual' });
      await client.payments.cancel(paymentId, { cancellation_reason: 'out of stock' });
      return;
    case 'authorized':
      await pay({ captureMethod: 'manual' });
      return;
    case 'customer_action':
      await pay({ card: CARDS.customer_action });
      await control.actAsCustomer(paymentId);
      return;
    case 'in_review':
      await pay({ card: CARDS.review });
      await client.payments.approve(paymentId);
      return;
    case 'processing':
      await pay({ card: CARDS.processing });
      return;
    case 'refunded':
      await pay();
      await client.refunds.create({ payment_id: paymentId, refund_id: `${order.orderId}-r1` });
      return;
    case 'refunded_in_parts':
      await pay();
      for (const [n, amount] of [half, order.amountMinor - half].entries()) {
        const refund_id = `${order.orderId}-r${n + 1}`;
        await client.refunds.create({ payment_id: paymentId, refund_id, amount });
      }
      return;
    case 'refund_failed_late':
      await pay();
      await client.refunds.create({ payment_id: paymentId, refund_id: `${order.orderId}-r1` });
      await control.moveRefund(`${order.orderId}-r1`, 'failed');
      return;
    case 'dispute_open':
      await pay();
      await control.openDispute(paymentId);
      return;
    case 'dispute_won':
      await pay();
      await control.moveDispute(await control.openDispute(paymentId), 'dispute_won');
      return;
    case 'dispute_lost':
      await pay();
      await control.moveDispute(await control.openDispute(paymentId), 'dispute_lost');
      return;
    case 'payout':
      await payOut(shop, order);
      return;
    case 'payout_reversed':
      await control.movePayout(await payOut(shop, order), 'reversed');
      return;
    default:
      assertNever(order.story);
  }
}

interface PaymentChanges {
  readonly paymentId?: string;
  readonly card?: string;
  readonly captureMethod?: 'manual' | 'manual_multiple';
}

function paymentRequest(
  { profileId }: Shop,
  { orderId, amountMinor, currency }: PlannedOrder,
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

/** Pays a supplier from a bank account. @returns the payout's id */
async function payOut(
  { client }: Shop,
  { orderId, amountMinor, currency }: PlannedOrder,
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
  await client.payouts.fulfill(payout.payout_id);
  return payout.payout_id;
}

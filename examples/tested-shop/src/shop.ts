/** A shop that sells for cards, and takes the money when the goods leave. */
import {
  type CreatePaymentRequest,
  declineAdvice,
  type Payment,
  type PaymentServiceClient,
} from '@tallyhook/client';

export interface Order {
  readonly id: string;
  /** Minor units: 6540 is 65.40 USD. */
  readonly amount: number;
  readonly currency: string;
}

export type Card = Pick<CreatePaymentRequest, 'payment_method_data' | 'billing'>;

/** What the shop shows to its customer. */
export type Step =
  | { readonly show: 'thanks' }
  | { readonly show: 'bank'; readonly url: string }
  | { readonly show: 'wait' }
  | { readonly show: 'declined'; readonly reason: string; readonly mayRetry: boolean };

export interface Shop {
  checkOut(order: Order, card: Card): Promise<Step>;
  /** The customer is back from the bank, or looks at the order. */
  look(order: Order): Promise<Step>;
  /** Takes the money, or a part of it. @returns what was captured, in minor units */
  ship(order: Order, amount?: number): Promise<number>;
  cancel(order: Order): Promise<void>;
  /** @param number 1 for the first refund of the order. @returns the refund's status */
  refund(order: Order, number: number, amount: number): Promise<string>;
}

export function createShop(service: PaymentServiceClient, profileId: string): Shop {
  const paymentIdOf = ({ id }: Order): string => `order-${id}`;
  return {
    checkOut: async (order, card) => {
      const { payment } = await service.payments.create({
        payment_id: paymentIdOf(order),
        amount: order.amount,
        currency: order.currency,
        profile_id: profileId,
        confirm: true,
        capture_method: 'manual',
        payment_method: 'card',
        return_url: `https://shop.example/orders/${order.id}`,
        metadata: { order_id: order.id },
        ...card,
      });
      return stepOf(payment);
    },
    look: async (order) => stepOf(await service.payments.retrieve(paymentIdOf(order))),
    ship: async (order, amount) => {
      const captured = await service.payments.capture(paymentIdOf(order), {
        ...(amount !== undefined && { amount_to_capture: amount }),
      });
      return captured.amount_received ?? 0;
    },
    cancel: async (order) => {
      await service.payments.cancel(paymentIdOf(order), { cancellation_reason: 'by the customer' });
    },
    refund: async (order, number, amount) => {
      const { refund } = await service.refunds.create({
        refund_id: `${paymentIdOf(order)}-${number}`,
        payment_id: paymentIdOf(order),
        amount,
      });
      return refund.status ?? 'unknown';
    },
  };
}

function stepOf(payment: Payment): Step {
  switch (payment.status) {
    case 'requires_capture':
    case 'succeeded':
    case 'partially_captured':
      return { show: 'thanks' };
    case 'requires_action':
      return { show: 'bank', url: payment.next_action?.redirect_to_url ?? '' };
    case 'failed':
    case 'expired':
    case 'cancelled': {
      const advice = declineAdvice(payment.unified_code ?? '');
      const reason = advice.customerMessage ?? payment.status;
      return { show: 'declined', reason, mayRetry: advice.mayRetry };
    }
    default:
      return { show: 'wait' };
  }
}

/** Receives the order webhooks of Tallyhook, each once. */
import {
  isOrderWebhook,
  type OrderWebhook,
  verifyTallyhookWebhook,
  type WebhookRequest,
  WebhookVerificationError,
} from '@tallyhook/client';

export interface OrderWebhooks {
  /** @returns the HTTP status to respond with */
  receive(request: WebhookRequest, nowMs: number): number;
  /** The status of an order, as it was reported last. */
  statusOf(orderId: string): string | undefined;
}

export function createOrderWebhooks(secret: string): OrderWebhooks {
  const seen = new Set<string>();
  const statuses = new Map<string, { readonly number: number; readonly status: string | null }>();
  const apply = ({ data: { change, order } }: OrderWebhook): void => {
    const known = statuses.get(order.order_id);
    // What a person sends again arrives after newer changes.
    if (known === undefined || known.number < change.number) statuses.set(order.order_id, change);
  };
  return {
    receive: (request, nowMs) => {
      try {
        const { id, webhook } = verifyTallyhookWebhook(request, { secret, nowMs });
        if (seen.has(id)) return 204;
        if (isOrderWebhook(webhook)) apply(webhook);
        // Last, and in a database in the same transaction: what was not processed is sent again.
        seen.add(id);
        return 204;
      } catch (error) {
        if (error instanceof WebhookVerificationError) return 400;
        throw error;
      }
    },
    statusOf: (orderId) => statuses.get(orderId)?.status ?? undefined,
  };
}

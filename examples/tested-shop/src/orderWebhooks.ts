/** Receives the order webhooks of Tallyhook, each once. */
import {
  isOrderWebhook,
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
  return {
    receive: (request, nowMs) => {
      try {
        const { id, webhook } = verifyTallyhookWebhook(request, { secret, nowMs });
        if (seen.has(id)) return 204;
        seen.add(id);
        if (!isOrderWebhook(webhook)) return 204;
        const { change, order } = webhook.data;
        const known = statuses.get(order.order_id ?? order.order_key);
        if (known === undefined || known.number < change.number) {
          statuses.set(order.order_id ?? order.order_key, change);
        }
        return 204;
      } catch (error) {
        if (error instanceof WebhookVerificationError) return 400;
        throw error;
      }
    },
    statusOf: (orderId) => statuses.get(orderId)?.status ?? undefined,
  };
}

/**
 * Plans order webhooks from changes of orders.
 *
 * 1. Each change of an order's status sends a webhook of type `order.` plus the new status.
 * 2. A change that keeps the status sends `order.updated` if the order's totals differ from those in
 *    the last webhook, or if no webhook was sent for the order yet. A second partial refund, for
 *    example, keeps the status. Other changes concern details of the ledger and send nothing.
 * 3. An imported change that is history sends nothing. If it is the order's last change, the current
 *    totals count as sent. Otherwise they may include later changes, which must not be hidden.
 * 4. A webhook carries the order as it is when the webhook is created. That is never older than the
 *    change. It may be newer; the change that made it newer then sends a webhook of its own.
 */

/** A change of an order, as the change feed has it. */
export interface OrderChange {
  readonly number: number;
  readonly orderKey: string;
  readonly change: 'status' | 'details' | 'registered';
  readonly status: string | null;
  readonly previousStatus: string | null;
  readonly changedAt: Date;
  readonly isHistory: boolean;
}

/** The current state of an order. */
export interface CurrentOrder {
  readonly orderId: string;
  /** Its totals as text; equal totals have equal text. */
  readonly totals: string;
  /** Its JSON, as in the admin API. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The number of the last change that it may include; undefined while that change has none. */
  readonly lastChange: number | undefined;
}

export interface OrderWebhook {
  readonly orderKey: string;
  readonly changeNumber: number;
  readonly type: string;
  readonly orderId: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface OrderWebhookPlan {
  readonly webhooks: readonly OrderWebhook[];
  /** The totals of orders that count as sent afterwards, by order key. */
  readonly sentTotals: ReadonlyMap<string, SentTotals>;
}

export interface SentTotals {
  readonly changeNumber: number;
  readonly totals: string;
}

/** @param sentBefore the totals of orders in the last webhook about each, by order key */
export function planOrderWebhooks(
  changes: readonly OrderChange[],
  orders: ReadonlyMap<string, CurrentOrder>,
  sentBefore: ReadonlyMap<string, string>,
): OrderWebhookPlan {
  const webhooks: OrderWebhook[] = [];
  const sentTotals = new Map<string, SentTotals>();
  for (const change of changes) {
    const order = orders.get(change.orderKey);
    if (order === undefined || change.change === 'registered') continue;
    const sent = sentTotals.get(change.orderKey)?.totals ?? sentBefore.get(change.orderKey);
    if (change.change === 'details' && sent === order.totals) continue;
    if (change.isHistory && change.number !== order.lastChange) continue;
    sentTotals.set(change.orderKey, { changeNumber: change.number, totals: order.totals });
    if (!change.isHistory) webhooks.push(webhookOf(change, order));
  }
  return { webhooks, sentTotals };
}

function webhookOf(change: OrderChange, { orderId, json }: CurrentOrder): OrderWebhook {
  const at = change.changedAt.toISOString();
  return {
    orderKey: change.orderKey,
    changeNumber: change.number,
    type: change.change === 'status' ? `order.${change.status}` : 'order.updated',
    orderId,
    at,
    data: {
      change: {
        number: change.number,
        status: change.status,
        previous_status: change.previousStatus,
        changed_at: at,
      },
      order: json,
    },
  };
}

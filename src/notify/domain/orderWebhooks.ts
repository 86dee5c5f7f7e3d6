/**
 * From changes of orders to notices for the shop.
 *
 * 1. Every change of an order's status is a notice, `order.` and the status it changed to.
 * 2. A change that leaves the status is `order.updated` if the order's money differs from what the
 *    shop was told last, or if it was told nothing yet; a second part that is refunded needs that.
 *    Anything else is a detail of the ledger, and no notice.
 * 3. A change that was imported and tells of the past is no notice. The order's money counts as told
 *    if that change is the order's last; if not, it holds what came after, which must not be hidden.
 * 4. A notice carries the order as it stands when the notice is made. That is never older than the
 *    change; it may be newer, and then the change that made it so follows.
 */

/** A change of an order, as the feed tells it. */
export interface OrderChange {
  readonly number: number;
  readonly orderKey: string;
  readonly change: 'status' | 'details' | 'registered';
  readonly status: string | null;
  readonly previousStatus: string | null;
  readonly changedAt: Date;
  readonly isHistory: boolean;
}

/** An order as it stands. */
export interface OrderNow {
  readonly orderId: string;
  /** Its amounts, in a form in which equal ones are spelt alike. */
  readonly money: string;
  /** In the form of the admin API. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The number of the last change that it may show; undefined while that one has none. */
  readonly lastChange: number | undefined;
}

export interface OrderNotice {
  readonly orderKey: string;
  readonly changeNumber: number;
  readonly type: string;
  readonly orderId: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface PlannedNotices {
  readonly notices: readonly OrderNotice[];
  /** The money of orders as the shop knows it afterwards. */
  readonly told: ReadonlyMap<string, { readonly changeNumber: number; readonly money: string }>;
}

/** `told`: the money of orders as the shop was told last. */
export function planNotices(
  changes: readonly OrderChange[],
  orders: ReadonlyMap<string, OrderNow>,
  told: ReadonlyMap<string, string>,
): PlannedNotices {
  const notices: OrderNotice[] = [];
  const nowTold = new Map<string, { changeNumber: number; money: string }>();
  for (const change of changes) {
    const order = orders.get(change.orderKey);
    if (order === undefined || change.change === 'registered') continue;
    const known = nowTold.get(change.orderKey)?.money ?? told.get(change.orderKey);
    if (change.change === 'details' && known === order.money) continue;
    if (change.isHistory && change.number !== order.lastChange) continue;
    const { money } = order;
    nowTold.set(change.orderKey, { changeNumber: change.number, money });
    if (!change.isHistory) notices.push(noticeOf(change, order));
  }
  return { notices, told: nowTold };
}

function noticeOf(change: OrderChange, { orderId, body }: OrderNow): OrderNotice {
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
      order: body,
    },
  };
}

/**
 * What has the sandbox send an event of a type. Every event is of a resource that the sandbox has, so service
 * and ledger stay equal.
 *
 * 1. A trigger uses what the order has: a refund is of its payment, if one can be refunded. What it does
 *    not have comes first, with events of its own.
 */
import { randomUUID } from 'node:crypto';
import type { EventType } from '../contract/events.ts';
import type { ResourceKind } from '../contract/resources/index.ts';
import type { DisputeMove, RecentResource } from './control.ts';
import { CAPTURED, type Capture, type OutcomeName, placePayment } from './play.ts';
import { confirmPayout, type Purchase, payOut, type Shop } from './shop.ts';
import { type Webhook, webhookOf } from './watch.ts';

/** Plays until the event is sent. @returns the id of its resource */
type Play = (shop: Shop, purchase: Purchase) => Promise<string>;

const OPENED = ['opened', 'dispute_opened'];
const UNDECIDED = [...OPENED, 'challenged', 'dispute_challenged'];

export const TRIGGERS = {
  payment_succeeded: (shop, purchase) => pay(shop, purchase, 'succeeds'),
  payment_failed: (shop, purchase) => pay(shop, purchase, 'UE_1001'),
  payment_processing: (shop, purchase) => pay(shop, purchase, 'processing'),
  payment_cancelled: async (shop, purchase) => {
    const id = await held(shop, purchase);
    await shop.client.payments.cancel(id);
    return id;
  },
  payment_authorized: (shop, purchase) => pay(shop, purchase, 'succeeds', 'manual'),
  payment_captured: async (shop, purchase) => {
    const id = await pay(shop, purchase, 'succeeds', 'manual_multiple');
    await shop.client.payments.capture(id, { amount_to_capture: half(purchase) });
    return id;
  },
  payment_expired: async (shop, purchase) => {
    const id = await held(shop, purchase);
    await shop.control.lapse(id);
    return id;
  },
  action_required: (shop, purchase) => pay(shop, purchase, 'customer_action'),
  refund_succeeded: (shop, purchase) => refund(shop, purchase),
  refund_failed: async (shop, purchase) => {
    const id =
      (await findOf(shop, purchase, 'refund', ['succeeded'])) ?? (await refund(shop, purchase));
    await shop.control.moveRefund(id, 'failed');
    return id;
  },
  dispute_opened: async (shop, purchase) => shop.control.openDispute(await paid(shop, purchase)),
  dispute_expired: dispute('expired'),
  dispute_accepted: dispute('accepted'),
  dispute_cancelled: dispute('cancelled'),
  dispute_challenged: dispute('challenged'),
  dispute_won: dispute('won'),
  dispute_lost: dispute('lost'),
  payout_success: payOut,
  payout_failed: async (shop, purchase) => {
    const id = await confirmPayout(shop, purchase);
    await shop.control.movePayout(id, 'failed');
    return id;
  },
  payout_initiated: (shop, purchase) =>
    payOut(shop, { ...purchase, amountMinor: INITIATED_AMOUNT_MINOR }),
  payout_cancelled: async (shop, purchase) => {
    const id = await confirmPayout(shop, purchase);
    await shop.client.payouts.cancel(id);
    return id;
  },
  payout_expired: async (shop, purchase) => {
    const id = await confirmPayout(shop, purchase);
    await shop.control.movePayout(id, 'expired');
    return id;
  },
  payout_reversed: async (shop, purchase) => {
    const id = await payOut(shop, purchase);
    await shop.control.movePayout(id, 'reversed');
    return id;
  },
} as const satisfies Partial<Readonly<Record<EventType, Play>>>;
export type TriggeredType = keyof typeof TRIGGERS;
export const TRIGGERED_TYPES = Object.keys(TRIGGERS) as readonly TriggeredType[];

/** A test amount of the sandbox: a payout of it is initiated first. */
const INITIATED_AMOUNT_MINOR = 7_720;

async function pay(
  shop: Shop,
  purchase: Purchase,
  outcome: OutcomeName,
  capture: Capture = 'automatic',
): Promise<string> {
  // An order can have several payments, each with an id of its own.
  const id = `${purchase.orderId}-${randomUUID().slice(0, 8)}`;
  return await placePayment(shop, { ...purchase, outcome, capture }, id);
}

/** The order's payment that can be refunded or disputed, or a new one. */
async function paid(shop: Shop, purchase: Purchase): Promise<string> {
  return (
    (await findOf(shop, purchase, 'payment', CAPTURED)) ?? (await pay(shop, purchase, 'succeeds'))
  );
}

/** The order's payment that is authorized, or a new one. */
async function held(shop: Shop, purchase: Purchase): Promise<string> {
  return (
    (await findOf(shop, purchase, 'payment', ['requires_capture'])) ??
    (await pay(shop, purchase, 'succeeds', 'manual'))
  );
}

async function refund(shop: Shop, purchase: Purchase): Promise<string> {
  const payment_id = await paid(shop, purchase);
  const refund_id = `${purchase.orderId}-r-${randomUUID().slice(0, 8)}`;
  await shop.client.refunds.create({ payment_id, refund_id });
  return refund_id;
}

function dispute(move: DisputeMove): Play {
  const statuses = move === 'challenged' ? OPENED : UNDECIDED;
  return async (shop, purchase) => {
    const id =
      (await findOf(shop, purchase, 'dispute', statuses)) ??
      (await shop.control.openDispute(await paid(shop, purchase)));
    await shop.control.moveDispute(id, move);
    return id;
  };
}

const half = ({ amountMinor }: Purchase): number => Math.max(1, Math.floor(amountMinor / 2));

/** The last resource of the order that changed and is in one of these statuses. */
async function findOf(
  { control }: Shop,
  { orderId }: Purchase,
  kind: ResourceKind,
  statuses: readonly string[],
): Promise<string | undefined> {
  const recent = await control.recent({ orderId, limit: 100 });
  return recent.find((one) => one.kind === kind && statuses.includes(statusOf(one)))?.id;
}

const statusOf = ({ resource }: RecentResource): string =>
  String(resource.dispute_status ?? resource.status ?? '');

/** The event that the sandbox sent about a resource. */
export interface TriggeredEvent extends Webhook {
  readonly eventId: string;
}

/** What the sandbox made of a resource. */
export interface Triggered {
  /** Undefined: it sent no event of the type. */
  readonly event: TriggeredEvent | undefined;
  readonly status: string;
  /** The types of the events that it sent about the resource, oldest first. */
  readonly types: readonly string[];
}

export async function readTriggered(
  { control }: Shop,
  { orderId }: Pick<Purchase, 'orderId'>,
  { id, type }: { readonly id: string; readonly type: TriggeredType },
): Promise<Triggered> {
  await control.settle();
  const recent = await control.recent({ orderId, limit: 100 });
  const resource = recent.find((one) => one.id === id);
  const events = resource?.events ?? [];
  const sent = events.findLast((event) => event.event_type === type);
  return {
    event: sent && { ...webhookOf(sent), eventId: sent.event_id },
    status: resource ? statusOf(resource) : 'unknown',
    types: events.map((event) => event.event_type),
  };
}

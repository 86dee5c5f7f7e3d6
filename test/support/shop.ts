/**
 * Events of a shop's life, made up from a seed: orders with payments, refunds and disputes, payouts,
 * and what goes wrong on the way. Whoever uses it prints the seed when it fails.
 */
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import type { SnapshotContent } from '../../src/ledger/domain/snapshot.ts';
import { formatInstant } from '../../src/ledger/domain/time.ts';
import { eventBody } from './events.ts';
import { LIVES, T0 } from './observations.ts';

export interface Random {
  /** A whole number from 0 up to, not including, `bound`. */
  below(bound: number): number;
  chance(share: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** mulberry32: small, and the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    below,
    chance: (share) => next() < share,
    pick: (items) => items[below(items.length)] ?? items[0],
    shuffle: (items) => {
      const left = [...items];
      return items.flatMap(() => left.splice(below(left.length), 1));
    },
  };
}

export interface ShopOptions {
  readonly seed: number;
  readonly orders: number;
}

/** Deliveries in an order of their own: some events are lost, some come twice, none in order. */
export function shopEvents({ seed, orders }: ShopOptions): readonly Buffer[] {
  const random = createRandom(seed);
  const name = (prefix: string) => `${prefix}_${seed}_${random.below(2 ** 32).toString(36)}`;
  const shop: Shop = { random, name, orderIds: Array.from({ length: orders }, () => name('ord')) };
  const bodies = [
    ...shop.orderIds.flatMap((orderId) => orderBodies(shop, orderId)),
    ...Object.values(LIVES).flatMap(({ kind, observations }) => {
      const id = name(kind);
      return observations.map((content) => bodyOf(shop, { kind, id, content }));
    }),
    ...oddBodies(shop),
  ];
  const delivered = bodies.flatMap((body) =>
    random.chance(0.05) ? [] : random.chance(0.1) ? [body, body] : [body],
  );
  return random.shuffle(delivered);
}

interface Shop {
  readonly random: Random;
  readonly name: (prefix: string) => string;
  readonly orderIds: readonly string[];
}

interface Told {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly content: SnapshotContent;
}

const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD'] as const;

function orderBodies(shop: Shop, orderId: string): readonly Buffer[] {
  const { random } = shop;
  const payments = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () =>
    paymentTold(shop, orderId, 2 + random.below(50_000)),
  );
  const children = payments.flatMap((told) => childrenTold(shop, told[0]));
  const payouts = random.chance(0.3) ? payoutTold(shop, orderId) : [];
  return [...payments.flat(), ...children, ...payouts].map((told) => bodyOf(shop, told));
}

/** Puts one life's contents in their times, a second apart; sometimes without versions. */
function dated(shop: Shop, { kind, id }: Omit<Told, 'content'>, contents: SnapshotContent[]) {
  const isDated = shop.random.chance(0.9);
  const start = T0 + shop.random.below(1_000_000) * 1_000_000;
  return contents.map((content, place): Told => {
    const versionMicros = start + place * 1_000_000 + shop.random.below(1_000);
    return { kind, id, content: isDated ? { ...content, versionMicros } : content };
  });
}

function paymentTold(shop: Shop, orderId: string, amountMinor: number): readonly Told[] {
  const { random } = shop;
  const common: SnapshotContent = {
    amountMinor,
    currency: random.pick(CURRENCIES),
    createdMicros: T0,
    ...(random.chance(0.8) && { orderId }),
  };
  const life = random.chance(0.5)
    ? automaticLife(random, amountMinor)
    : manualLife(random, amountMinor);
  const contents = life.map((content) => ({ ...common, ...content }));
  const last = contents.at(-1);
  // Some payments turn out to belong to another order, or to have another currency.
  if (last && random.chance(0.1))
    contents.push({ ...last, orderId: random.pick([...shop.orderIds, orderId] as never) });
  if (last && random.chance(0.05)) contents.push({ ...last, currency: random.pick(CURRENCIES) });
  return dated(shop, { kind: 'payment', id: shop.name('pay') }, contents);
}

function automaticLife(random: Random, amountMinor: number): SnapshotContent[] {
  const common = { captureMethod: 'automatic' };
  const failed = { ...common, status: 'failed', unifiedCode: 'UE_1000', errorCode: 'declined' };
  if (random.chance(0.1)) return [{ ...common, status: 'processing' }, failed];
  if (random.chance(0.03)) return [{ ...common, status: 'teleported' }];
  const paid = {
    ...common,
    status: 'succeeded',
    ...(random.chance(0.9) && { amountReceivedMinor: amountMinor }),
  };
  const before = random.chance(0.1) ? [failed] : [];
  const after = random.chance(0.05) ? [{ ...paid, status: 'cancelled_post_capture' }] : [];
  return [...before, { ...common, status: 'processing' }, paid, ...after];
}

function manualLife(random: Random, amountMinor: number): SnapshotContent[] {
  const at = (status: string, receivedMinor: number, capturableMinor: number) => ({
    captureMethod: 'manual',
    status,
    amountReceivedMinor: receivedMinor,
    amountCapturableMinor: capturableMinor,
    deadlineMicros: T0 + 7 * 86_400_000_000,
  });
  const some = random.below(amountMinor);
  const held = at('requires_capture', 0, amountMinor);
  const partly = at('partially_captured_and_capturable', some, amountMinor - some);
  return random.pick<SnapshotContent[]>([
    [held],
    [held, partly],
    [held, partly, at('succeeded', amountMinor, 0)],
    [held, at('partially_captured', some, 0)],
    [held, at('cancelled', 0, 0)],
    [held, partly, at('expired', some, 0)],
    // Captured by hand, and nobody says how much: nothing may be posted for it yet.
    [held, { captureMethod: 'manual', status: 'succeeded' }],
  ]);
}

function childrenTold(shop: Shop, payment: Told | undefined): readonly Told[] {
  const { random } = shop;
  if (!payment) return [];
  const { amountMinor = 2, currency = 'USD' } = payment.content;
  const common = { paymentId: payment.id, currency, createdMicros: T0 };
  const told: Told[] = [];
  for (let refunds = random.below(3); refunds > 0; refunds -= 1) {
    const refund = { ...common, amountMinor: 1 + random.below(amountMinor) };
    const statuses = random.pick([
      ['pending'],
      ['pending', 'succeeded'],
      ['pending', 'failed'],
      ['pending', 'succeeded', 'failed'],
    ]);
    const contents = statuses.map((status) => ({ ...refund, status }));
    told.push(...dated(shop, { kind: 'refund', id: shop.name('ref') }, contents));
  }
  if (random.chance(0.2)) {
    const stage = random.pick(['pre_dispute', 'dispute']);
    const statuses = random.pick([
      ['opened'],
      ['opened', 'challenged', 'won'],
      ['opened', 'challenged', 'lost'],
      ['opened', 'accepted'],
      ['opened', 'cancelled'],
    ]);
    const contents = statuses.map((status) => ({ ...common, amountMinor, stage, status }));
    const again = { ...common, amountMinor, stage: 'pre_arbitration', status: 'opened' };
    if (random.chance(0.2)) contents.push(again);
    told.push(...dated(shop, { kind: 'dispute', id: shop.name('dp') }, contents));
  }
  return told;
}

function payoutTold(shop: Shop, orderId: string): readonly Told[] {
  const { random } = shop;
  const common = { amountMinor: random.below(9_000), currency: random.pick(CURRENCIES), orderId };
  const statuses = random.pick([
    ['requires_fulfillment'],
    ['initiated', 'success'],
    ['initiated', 'pending', 'failed'],
    ['initiated', 'success', 'reversed'],
    ['ineligible'],
  ]);
  const contents = statuses.map((status) => ({ ...common, status }));
  return dated(shop, { kind: 'payout', id: shop.name('po') }, contents);
}

/** Signed events that post nothing, or not yet. */
function oddBodies({ name }: Shop): readonly Buffer[] {
  const payment = { payment_id: name('pay'), status: 'succeeded', amount: 1, currency: 'USD' };
  return [
    eventBody(payment, { eventId: name('evt'), merchantId: 'merchant_of_another_account' }),
    eventBody(
      { mandate_id: name('man') },
      { eventId: name('evt'), contentType: 'mandate_details' },
    ),
    eventBody({ ...payment, amount: 1.5 }, { eventId: name('evt') }),
    Buffer.from(`{"no": "envelope", "about": "${name('x')}"}`),
  ];
}

/** An event with the fields in which the service tells this content. */
function bodyOf({ name }: Shop, { kind, id, content }: Told): Buffer {
  const { status, stage, versionMicros, createdMicros, deadlineMicros } = content;
  const instant = (micros: number | undefined) =>
    micros === undefined ? undefined : formatInstant(micros);
  const object = {
    [`${kind}_id`]: id,
    payment_id: kind === 'payment' ? id : content.paymentId,
    ...(kind === 'dispute' ? { dispute_status: `dispute_${status}` } : { status }),
    dispute_stage: stage,
    amount: kind === 'dispute' ? String(content.amountMinor) : content.amountMinor,
    currency: content.currency,
    modified_at: instant(versionMicros),
    created: instant(createdMicros),
    ...(content.orderId !== undefined && orderFields(kind, content.orderId)),
    capture_method: content.captureMethod,
    amount_received: content.amountReceivedMinor,
    amount_capturable: content.amountCapturableMinor,
    capture_before: instant(deadlineMicros),
    unified_code: content.unifiedCode,
    error_code: content.errorCode,
  };
  const label = { eventType: `${kind}_event`, contentType: `${kind}_details` };
  return eventBody(object, { eventId: name('evt'), ...label });
}

function orderFields(kind: ResourceKind, orderId: string): object {
  return kind === 'payout'
    ? { merchant_order_reference_id: orderId }
    : { metadata: { order_id: orderId } };
}

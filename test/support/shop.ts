/**
 * Events of a shop, generated from a seed: orders with payments, refunds and disputes, payouts, and
 * events that cannot be applied. A test that uses it prints the seed when it fails.
 */
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import type { SnapshotContent } from '../../src/ledger/domain/snapshot.ts';
import { formatInstant } from '../../src/ledger/domain/time.ts';
import { eventBody } from './events.ts';
import { LIFECYCLES, T0 } from './observations.ts';
import { seededRandom } from './random.ts';

export interface Choices {
  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number;
  chance(share: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
}

export function createChoices(seed: number): Choices {
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  return {
    below,
    chance: (share) => random() < share,
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

/** Deliveries in random order: some events are lost, and some are sent twice. */
export function shopEvents({ seed, orders }: ShopOptions): readonly Buffer[] {
  const random = createChoices(seed);
  const name = (prefix: string) => `${prefix}_${seed}_${random.below(2 ** 32).toString(36)}`;
  const shop: Shop = { random, name, orderIds: Array.from({ length: orders }, () => name('ord')) };
  const bodies = [
    ...shop.orderIds.flatMap((orderId) => orderBodies(shop, orderId)),
    ...Object.values(LIFECYCLES).flatMap(({ kind, observations }) => {
      const id = name(kind);
      return observations.map((content) => bodyOf(shop, { kind, id, content }));
    }),
    ...irregularBodies(shop),
  ];
  const delivered = bodies.flatMap((body) =>
    random.chance(0.05) ? [] : random.chance(0.1) ? [body, body] : [body],
  );
  return random.shuffle(delivered);
}

interface Shop {
  readonly random: Choices;
  readonly name: (prefix: string) => string;
  readonly orderIds: readonly string[];
}

interface ResourceContent {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly content: SnapshotContent;
}

const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD'] as const;

function orderBodies(shop: Shop, orderId: string): readonly Buffer[] {
  const { random } = shop;
  const payments = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () =>
    paymentContents(shop, orderId, 2 + random.below(50_000)),
  );
  const children = payments.flatMap(([payment]) => childContents(shop, payment));
  const payouts = random.chance(0.3) ? payoutContents(shop, orderId) : [];
  return [...payments.flat(), ...children, ...payouts].map((content) => bodyOf(shop, content));
}

/** Dates the contents of one lifecycle, a second apart; sometimes leaves them undated. */
function dated(
  shop: Shop,
  { kind, id }: Omit<ResourceContent, 'content'>,
  contents: SnapshotContent[],
) {
  const isDated = shop.random.chance(0.9);
  const start = T0 + shop.random.below(1_000_000) * 1_000_000;
  return contents.map((content, index): ResourceContent => {
    const versionMicros = start + index * 1_000_000 + shop.random.below(1_000);
    return { kind, id, content: isDated ? { ...content, versionMicros } : content };
  });
}

function paymentContents(
  shop: Shop,
  orderId: string,
  amountMinor: number,
): readonly ResourceContent[] {
  const { random } = shop;
  const common: SnapshotContent = {
    amountMinor,
    currency: random.pick(CURRENCIES),
    createdMicros: T0,
    ...(random.chance(0.8) && { orderId }),
  };
  const life = random.chance(0.5)
    ? automaticLifecycle(random, amountMinor)
    : manualLifecycle(random, amountMinor);
  const contents = life.map((content) => ({ ...common, ...content }));
  const last = contents.at(-1);
  // Some payments later report another order or another currency.
  if (last && random.chance(0.1))
    contents.push({ ...last, orderId: random.pick([...shop.orderIds, orderId] as never) });
  if (last && random.chance(0.05)) contents.push({ ...last, currency: random.pick(CURRENCIES) });
  return dated(shop, { kind: 'payment', id: shop.name('pay') }, contents);
}

function automaticLifecycle(random: Choices, amountMinor: number): SnapshotContent[] {
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

function manualLifecycle(random: Choices, amountMinor: number): SnapshotContent[] {
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
    // Captured manually without an amount: nothing may be posted for it yet.
    [held, { captureMethod: 'manual', status: 'succeeded' }],
  ]);
}

function childContents(
  shop: Shop,
  payment: ResourceContent | undefined,
): readonly ResourceContent[] {
  const { random } = shop;
  if (!payment) return [];
  const { amountMinor = 2, currency = 'USD' } = payment.content;
  const common = { paymentId: payment.id, currency, createdMicros: T0 };
  const children: ResourceContent[] = [];
  for (let refunds = random.below(3); refunds > 0; refunds -= 1) {
    const refund = { ...common, amountMinor: 1 + random.below(amountMinor) };
    const statuses = random.pick([
      ['pending'],
      ['pending', 'succeeded'],
      ['pending', 'failed'],
      ['pending', 'succeeded', 'failed'],
    ]);
    const contents = statuses.map((status) => ({ ...refund, status }));
    children.push(...dated(shop, { kind: 'refund', id: shop.name('ref') }, contents));
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
    children.push(...dated(shop, { kind: 'dispute', id: shop.name('dp') }, contents));
  }
  return children;
}

function payoutContents(shop: Shop, orderId: string): readonly ResourceContent[] {
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

/** Signed events that post nothing, or not yet: of another account, unsupported, or malformed. */
function irregularBodies({ name }: Shop): readonly Buffer[] {
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

/** An event with this content in the service's fields. */
function bodyOf({ name }: Shop, { kind, id, content }: ResourceContent): Buffer {
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

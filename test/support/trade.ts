/**
 * A shop that trades with a sandbox over HTTP in rounds, and the comparison of the ledger with the
 * sandbox.
 *
 * Each round places new orders and continues existing ones: partial captures, cancellations, refunds
 * that fail late, disputes through their stages, payouts that are returned. The requests follow only
 * from the actual state of each resource in the sandbox and from the random source.
 */
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import { compareSides } from '../../src/demo/compare.ts';
import { readResourcePage, readTotalsPage } from '../../src/ledger/read/store/wholeLedger.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import type { Random } from './random.ts';
import type { TestSandbox } from './sandbox.ts';
import { card, cardPayment } from './sandboxRequests.ts';
import type { Body } from './serviceApi.ts';

/** A request to the service, or to a control route. */
type ServiceRequest = readonly [method: 'POST', path: string, body?: object];

/** Requests about different resources run concurrently, as from a busy shop. */
const CONCURRENCY = 4;
const PAGE_ROWS = 1_000;
const MAX_ROWS = 100_000;
const KINDS: readonly ResourceKind[] = ['payment', 'refund', 'dispute', 'payout'];

/** The code of a request that the service never accepts. */
const MALFORMED = 'IR_04';

export interface TradeOptions {
  /** Number of new orders in this round. */
  readonly orders: number;
  readonly random: Random;
  /** The resources that are continued; by default all. */
  readonly continues?: (resource: Body) => boolean;
}

/** @param name of the round, unique in the sandbox */
export async function trade(
  sandbox: TestSandbox,
  name: string,
  { orders, random, continues = () => true }: TradeOptions,
): Promise<void> {
  const resources = await readServiceResources(sandbox);
  const followUps = KINDS.flatMap((kind) =>
    inOrder(resources.get(kind) ?? [])
      .filter(continues)
      .flatMap((resource) => followUp(kind, resource, { name, random })),
  );
  const placed = Array.from({ length: orders }, (_, n) => placeOrder(name, n, random));
  const payouts = Array.from({ length: Math.ceil(orders / 6) }, (_, n) => payOut(name, n, random));
  await sendAll(sandbox, [...placed, ...followUps, ...payouts]);
}

/** In an order that repeats with the seed: the sandbox chooses the ids of disputes and payouts at random. */
function inOrder(resources: readonly Body[]): readonly Body[] {
  const keyOf = (one: Body) =>
    [one.payment_id ?? one.merchant_order_reference_id, one.refund_id, one.created_at].join(' ');
  return resources.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** The service may reject a request because of an earlier one in the same round, but not for its form. */
async function sendAll(sandbox: TestSandbox, requests: readonly ServiceRequest[]): Promise<void> {
  let next = 0;
  const send = async (): Promise<void> => {
    for (let request = requests[next]; request; request = requests[next]) {
      next += 1;
      const reply = await sandbox.call(...request);
      if (reply.status >= 500 || reply.body?.error?.code === MALFORMED) {
        throw new Error(`${request[1]}: ${JSON.stringify(reply.body)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, send));
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

const GOOD_CARD = '4242424242424242';
const CARDS = [
  ...Array<string>(8).fill(GOOD_CARD),
  testCard('final', 'UE_1001'),
  testCard('processing'),
  testCard('processing', 'UE_1001'),
  testCard('customer_action'),
  testCard('review'),
];

function placeOrder(name: string, n: number, random: Random): ServiceRequest {
  // Occasionally a second payment for the previous order, or a payment without an order.
  const order = random() < 0.05 && n > 0 ? n - 1 : n;
  const fields = {
    payment_id: `pay_${name}_${n}`,
    amount: 1_000 + Math.floor(random() * 49_000),
    currency: pick(random, ['USD', 'USD', 'EUR', 'JPY']),
    capture_method: pick(random, ['automatic', 'automatic', 'manual', 'manual_multiple']),
    payment_method_data: card(pick(random, CARDS)),
    confirm: random() < 0.95,
    ...(random() < 0.9 && { metadata: { order_id: `ord_${name}_${order}` } }),
  };
  return ['POST', '/payments', cardPayment(fields)];
}

/** Amounts that select the outcome of a payout or refund, and ordinary ones; see docs/reference/sandbox.md. */
const PAYOUT_AMOUNTS = [900, 1_200, 2_500, 7_710, 7_720, 7_730, 7_740, 7_750];
const REFUND_AMOUNTS = [7_710, 7_720, 7_730];

function payOut(name: string, n: number, random: Random): ServiceRequest {
  const body = {
    amount: pick(random, PAYOUT_AMOUNTS),
    currency: 'EUR',
    merchant_order_reference_id: `out_${name}_${n}`,
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'ABCDEFGH',
      },
    },
    auto_fulfill: random() < 0.8,
  };
  return ['POST', '/payouts/create', body];
}

interface Trade {
  readonly name: string;
  readonly random: Random;
}

function followUp(kind: ResourceKind, resource: Body, round: Trade): readonly ServiceRequest[] {
  switch (kind) {
    case 'payment':
      return followUpPayment(resource, round);
    case 'refund':
      return moveRefund(resource, round);
    case 'dispute':
      return moveDispute(resource, round);
    case 'payout':
      return movePayout(resource, round);
  }
}

function followUpPayment(payment: Body, round: Trade): readonly ServiceRequest[] {
  const { random } = round;
  const path = `/payments/${payment.payment_id}`;
  switch (payment.status) {
    case 'requires_capture':
    case 'partially_captured_and_capturable':
      return captureOrCancel(payment, random);
    case 'requires_action': {
      const action = pick(random, ['complete', 'complete', 'fail', 'abandon', undefined]);
      return action ? [['POST', `/_sandbox${path}/action`, { action }]] : [];
    }
    case 'requires_merchant_action':
      return pick<readonly ServiceRequest[]>(random, [
        [['POST', `${path}/approve`]],
        [['POST', `${path}/reject`]],
        [],
      ]);
    case 'failed': {
      const retry = { payment_method: 'card', payment_method_data: card(GOOD_CARD) };
      const isRetried = payment.manual_retry_allowed === true && random() < 0.4;
      return isRetried ? [['POST', `${path}/confirm`, retry]] : [];
    }
    case 'requires_confirmation':
    case 'processing':
      return random() < 0.1 ? [['POST', `${path}/cancel`, {}]] : [];
    case 'succeeded':
    case 'partially_captured':
      return refundOrDispute(payment, round);
    default:
      return [];
  }
}

function captureOrCancel(payment: Body, random: Random): readonly ServiceRequest[] {
  const path = `/payments/${payment.payment_id}`;
  const part = 1 + Math.floor(random() * (payment.amount_capturable - 1));
  return pick<readonly ServiceRequest[]>(random, [
    [['POST', `${path}/capture`, { amount_to_capture: part }]],
    [['POST', `${path}/capture`, { amount_to_capture: part }]],
    [['POST', `${path}/capture`]],
    [['POST', `${path}/cancel`, {}]],
    [],
  ]);
}

function refundOrDispute(payment: Body, { name, random }: Trade): readonly ServiceRequest[] {
  const { payment_id: paymentId, amount_received: received } = payment;
  const requests: ServiceRequest[] = [];
  const part = 1 + Math.floor(random() * received);
  if (random() < 0.35) {
    const amount = random() < 0.3 ? pick(random, REFUND_AMOUNTS) : random() < 0.3 ? received : part;
    const refund = { refund_id: `ref_${name}_${paymentId}`, payment_id: paymentId, amount };
    requests.push(['POST', '/refunds', refund]);
  }
  if (random() < 0.2) {
    const amount = random() < 0.5 ? received : part;
    requests.push(['POST', '/_sandbox/disputes', { payment_id: paymentId, amount }]);
  }
  return requests;
}

function moveRefund({ refund_id: id, status }: Body, { random }: Trade): readonly ServiceRequest[] {
  const move = (to: string): readonly ServiceRequest[] => [
    ['POST', `/_sandbox/refunds/${id}/move`, { status: to }],
  ];
  // The customer's bank occasionally returns a refund that had succeeded.
  if (status === 'succeeded') return random() < 0.1 ? move('failed') : [];
  if (status !== 'pending' && status !== 'review') return [];
  return random() < 0.5 ? move(pick(random, ['succeeded', 'succeeded', 'failed'])) : [];
}

function moveDispute(dispute: Body, { random }: Trade): readonly ServiceRequest[] {
  const { dispute_id: id, dispute_stage: stage, status } = dispute;
  const move = (to: object): readonly ServiceRequest[] => [
    ['POST', `/_sandbox/disputes/${id}/move`, to],
  ];
  if (status === 'opened' || status === 'challenged') {
    return pick<readonly ServiceRequest[]>(random, [
      move({ status: 'won' }),
      move({ status: 'lost' }),
      move({ status: 'cancelled' }),
      [['POST', `/disputes/${id}/accept`]],
      [],
      [],
    ]);
  }
  const escalates = stage === 'dispute' && random() < 0.15;
  return escalates ? move({ stage: 'pre_arbitration' }) : [];
}

function movePayout({ payout_id: id, status }: Body, { random }: Trade): readonly ServiceRequest[] {
  const move = (to: string): readonly ServiceRequest[] => [
    ['POST', `/_sandbox/payouts/${id}/move`, { status: to }],
  ];
  switch (status) {
    case 'requires_confirmation':
      return [['POST', `/payouts/${id}/confirm`, {}]];
    case 'requires_fulfillment':
      return [['POST', `/payouts/${id}/fulfill`]];
    case 'initiated':
    case 'pending':
      return random() < 0.4 ? move(pick(random, ['success', 'failed', 'expired'])) : [];
    case 'success':
      return random() < 0.2 ? move(pick(random, ['reversed', 'failed'])) : [];
    default:
      return [];
  }
}

/** Every resource of the sandbox in its actual state. */
async function readServiceResources(
  sandbox: TestSandbox,
): Promise<ReadonlyMap<ResourceKind, readonly Body[]>> {
  const resources = new Map<ResourceKind, readonly Body[]>();
  for (const kind of KINDS) resources.set(kind, await readServiceResourcesOf(sandbox, kind));
  return resources;
}

async function readServiceResourcesOf(
  sandbox: TestSandbox,
  kind: ResourceKind,
): Promise<readonly Body[]> {
  const rows: Body[] = [];
  for (let after = ''; ; ) {
    const path = `/resources/${kind}?limit=${PAGE_ROWS}&after=${encodeURIComponent(after)}`;
    const { data, next_after: next } = await sandbox.control('GET', path);
    rows.push(...data);
    if (data.length < PAGE_ROWS) return rows;
    after = next;
  }
}

/**
 * The differences between the ledger and the sandbox, by part and by order, to the cent.
 * Empty if they are equal.
 */
export async function differencesOf(
  db: Queryable,
  sandbox: TestSandbox,
): Promise<readonly string[]> {
  const page = { limit: MAX_ROWS };
  const compared = compareSides({
    serviceResources: await readServiceResources(sandbox),
    resources: await readResourcePage(db, { ...page, after: { kind: '', id: '' } }),
    totals: await readTotalsPage(db, { ...page, after: { orderKey: '', currency: '' } }),
    missed: new Set(),
  });
  return compared.flatMap(({ orderKey, differences }) =>
    differences.map((difference) => `${orderKey}: ${difference}`),
  );
}

/**
 * A shop that trades with a sandbox over HTTP, in rounds, and the comparison of the ledger with what
 * the sandbox really has.
 *
 * Each round places new orders and goes on with what stands: captures in parts, cancels, refunds that
 * fail late, disputes through their stages, payouts that come back. What is done follows from the
 * state of each resource in the sandbox's truth and from the random source alone.
 */
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import { compareSides } from '../../src/demo/compare.ts';
import { readResourcePage, readTotalsPage } from '../../src/ledger/read/store/wholeLedger.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import type { TestSandbox } from './sandbox.ts';
import { card, cardPayment } from './sandboxRequests.ts';
import type { Body } from './serviceApi.ts';
import type { Random } from './storm.ts';

/** A request to the service, or to a control route. */
type Act = readonly [method: 'POST', path: string, body?: object];

/** Requests about different resources run side by side, as from a busy shop. */
const AT_ONCE = 4;
const PAGE_ROWS = 1_000;
const MOST_ROWS = 100_000;
const KINDS: readonly ResourceKind[] = ['payment', 'refund', 'dispute', 'payout'];

export interface TradeOptions {
  /** New orders of this round. */
  readonly orders: number;
  readonly random: Random;
}

/** @param name of the round, unique in the sandbox */
export async function trade(
  sandbox: TestSandbox,
  name: string,
  { orders, random }: TradeOptions,
): Promise<void> {
  const truths = await readTruths(sandbox);
  const acts = KINDS.flatMap((kind) =>
    (truths.get(kind) ?? []).flatMap((truth) => actOn(kind, truth, { name, random })),
  );
  const placed = Array.from({ length: orders }, (_, n) => placeOrder(name, n, random));
  const payouts = Array.from({ length: Math.ceil(orders / 6) }, (_, n) => payOut(name, n, random));
  await playAll(sandbox, [...placed, ...acts, ...payouts]);
}

/** The service may refuse an act: another one of the same round was first. */
async function playAll(sandbox: TestSandbox, acts: readonly Act[]): Promise<void> {
  let next = 0;
  const play = async (): Promise<void> => {
    for (let act = acts[next]; act; act = acts[next]) {
      next += 1;
      const reply = await sandbox.call(...act);
      if (reply.status >= 500) throw new Error(`${act[1]}: ${JSON.stringify(reply.body)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
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

function placeOrder(name: string, n: number, random: Random): Act {
  // Now and then a second payment for the order before, or one that belongs to no order.
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

/** Amounts that choose how a payout or a refund goes, and ordinary ones; see docs/reference/sandbox.md. */
const PAYOUT_AMOUNTS = [900, 1_200, 2_500, 7_710, 7_720, 7_730, 7_740, 7_750];
const REFUND_AMOUNTS = [7_710, 7_720, 7_730];

function payOut(name: string, n: number, random: Random): Act {
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

function actOn(kind: ResourceKind, truth: Body, round: Trade): readonly Act[] {
  switch (kind) {
    case 'payment':
      return actOnPayment(truth, round);
    case 'refund':
      return moveRefund(truth, round);
    case 'dispute':
      return moveDispute(truth, round);
    case 'payout':
      return movePayout(truth, round);
  }
}

function actOnPayment(truth: Body, round: Trade): readonly Act[] {
  const { random } = round;
  const path = `/payments/${truth.payment_id}`;
  switch (truth.status) {
    case 'requires_capture':
    case 'partially_captured_and_capturable':
      return captureOrCancel(truth, random);
    case 'requires_action': {
      const action = pick(random, ['complete', 'complete', 'fail', 'abandon', undefined]);
      return action ? [['POST', `/_sandbox${path}/action`, { action }]] : [];
    }
    case 'requires_merchant_action':
      return pick<readonly Act[]>(random, [
        [['POST', `${path}/approve`]],
        [['POST', `${path}/reject`]],
        [],
      ]);
    case 'failed': {
      const again = { payment_method: 'card', payment_method_data: card(GOOD_CARD) };
      const mayAgain = truth.manual_retry_allowed === true && random() < 0.4;
      return mayAgain ? [['POST', `${path}/confirm`, again]] : [];
    }
    case 'requires_confirmation':
    case 'processing':
      return random() < 0.1 ? [['POST', `${path}/cancel`, {}]] : [];
    case 'succeeded':
    case 'partially_captured':
      return refundOrDispute(truth, round);
    default:
      return [];
  }
}

function captureOrCancel(truth: Body, random: Random): readonly Act[] {
  const path = `/payments/${truth.payment_id}`;
  const part = 1 + Math.floor(random() * (truth.amount_capturable - 1));
  return pick<readonly Act[]>(random, [
    [['POST', `${path}/capture`, { amount_to_capture: part }]],
    [['POST', `${path}/capture`, { amount_to_capture: part }]],
    [['POST', `${path}/capture`]],
    [['POST', `${path}/cancel`, {}]],
    [],
  ]);
}

function refundOrDispute(truth: Body, { name, random }: Trade): readonly Act[] {
  const { payment_id: paymentId, amount_received: received } = truth;
  const acts: Act[] = [];
  const part = 1 + Math.floor(random() * received);
  if (random() < 0.35) {
    const amount = random() < 0.3 ? pick(random, REFUND_AMOUNTS) : random() < 0.3 ? received : part;
    const refund = { refund_id: `ref_${name}_${paymentId}`, payment_id: paymentId, amount };
    acts.push(['POST', '/refunds', refund]);
  }
  if (random() < 0.2) {
    const amount = random() < 0.5 ? received : part;
    acts.push(['POST', '/_sandbox/disputes', { payment_id: paymentId, amount }]);
  }
  return acts;
}

function moveRefund({ refund_id: id, status }: Body, { random }: Trade): readonly Act[] {
  const move = (to: string): readonly Act[] => [
    ['POST', `/_sandbox/refunds/${id}/move`, { status: to }],
  ];
  // A refund that had succeeded comes back from the customer's bank now and then.
  if (status === 'succeeded') return random() < 0.1 ? move('failed') : [];
  if (status !== 'pending' && status !== 'review') return [];
  return random() < 0.5 ? move(pick(random, ['succeeded', 'succeeded', 'failed'])) : [];
}

function moveDispute(truth: Body, { random }: Trade): readonly Act[] {
  const { dispute_id: id, dispute_stage: stage, status } = truth;
  const move = (to: object): readonly Act[] => [['POST', `/_sandbox/disputes/${id}/move`, to]];
  if (status === 'opened' || status === 'challenged') {
    return pick<readonly Act[]>(random, [
      move({ status: 'dispute_won' }),
      move({ status: 'dispute_lost' }),
      move({ status: 'dispute_cancelled' }),
      [['POST', `/disputes/${id}/accept`]],
      [],
      [],
    ]);
  }
  const comesBack = stage === 'dispute' && random() < 0.15;
  return comesBack ? move({ stage: 'pre_arbitration' }) : [];
}

function movePayout({ payout_id: id, status }: Body, { random }: Trade): readonly Act[] {
  const move = (to: string): readonly Act[] => [
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

/** Everything that the sandbox has, as it really is. */
async function readTruths(
  sandbox: TestSandbox,
): Promise<ReadonlyMap<ResourceKind, readonly Body[]>> {
  const truths = new Map<ResourceKind, readonly Body[]>();
  for (const kind of KINDS) truths.set(kind, await readTruth(sandbox, kind));
  return truths;
}

async function readTruth(sandbox: TestSandbox, kind: ResourceKind): Promise<readonly Body[]> {
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
 * What differs between the ledger and the sandbox, part by part and order by order, to the cent.
 * Empty where they are equal.
 */
export async function differencesOf(
  db: Queryable,
  sandbox: TestSandbox,
): Promise<readonly string[]> {
  const page = { limit: MOST_ROWS };
  const compared = compareSides({
    serviceResources: await readTruths(sandbox),
    resources: await readResourcePage(db, { ...page, after: { kind: '', id: '' } }),
    totals: await readTotalsPage(db, { ...page, after: { orderKey: '', currency: '' } }),
    missed: new Set(),
  });
  return compared.flatMap(({ orderKey, differences }) =>
    differences.map((difference) => `${orderKey}: ${difference}`),
  );
}

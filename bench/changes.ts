/**
 * What the load's events are about: payments that go through their lifecycles.
 *
 * Five thousand payments are open at a time and each event advances a random one of them, so that a
 * payment's events are some thousands of events apart, as in a busy shop. A payment has 2.2 events on
 * average: 100,000 events make about 45,000 payments.
 *
 * Everything but the ids follows from a seed; two runs send the same payments.
 */
import { seededRandom } from '../src/platform/random.ts';

const OPEN_PAYMENTS = 5_000;

export type Step = 'processing' | 'succeeded' | 'authorized' | 'captured' | 'failed' | 'refunded';

export interface Payment {
  /** What its id and those of its refunds are made of. */
  readonly key: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly createdMs: number;
}

/** A payment takes a step, which its service sends an event about. */
export interface Change {
  readonly payment: Payment;
  readonly step: Step;
  readonly changedMs: number;
}

export interface StreamShape {
  /** Payments that are open at a time. */
  readonly openPayments: number;
  /** When the first payment was created. */
  readonly startMs: number;
  /** All payments name the same order. */
  readonly isOneOrder?: boolean;
}

export const BUSY_SHOP: StreamShape = {
  openPayments: OPEN_PAYMENTS,
  startMs: Date.now() - 60_000,
};

interface OpenPayment extends Payment {
  readonly steps: readonly Step[];
  /** How many of its steps were taken. */
  taken: number;
}

export interface Changes {
  next(): Change;
  /** The remaining steps of all open payments; afterwards none is open. */
  finish(): readonly Change[];
}

/** @param run part of every id, and nowhere else */
export function createChanges(seed: number, run: string, shape: StreamShape = BUSY_SHOP): Changes {
  const random = seededRandom(seed);
  const openPayments: OpenPayment[] = [];
  let payments = 0;

  const newPayment = (): OpenPayment => {
    payments += 1;
    return {
      key: `${scatter(payments)}${run}`,
      orderId: `order_${run}_${shape.isOneOrder ? 0 : orderOf(payments)}`,
      amountMinor: 100 + Math.floor(random() * 50_000),
      createdMs: shape.startMs + (payments % 50_000),
      steps: payments % 10 === 9 ? FAILED : drawSteps(random()),
      taken: 0,
    };
  };

  const isOpen = (payment: OpenPayment | undefined): payment is OpenPayment =>
    payment !== undefined && payment.taken < payment.steps.length;
  const advance = (payment: OpenPayment): Change => {
    const step = payment.steps[payment.taken] ?? 'succeeded';
    payment.taken += 1;
    return { payment, step, changedMs: payment.createdMs + payment.taken * 1_000 };
  };

  return {
    next: () => {
      const slot = Math.floor(random() * shape.openPayments);
      const open = openPayments[slot];
      const payment = isOpen(open) ? open : newPayment();
      openPayments[slot] = payment;
      return advance(payment);
    },
    finish: () => {
      const changes: Change[] = [];
      for (const payment of openPayments) while (isOpen(payment)) changes.push(advance(payment));
      return changes;
    },
  };
}

/** One payment in ten is a second try for the order before it, which has a failed payment. */
function orderOf(payment: number): number {
  return payment % 10 === 0 ? payment - 1 : payment;
}

const FAILED: readonly Step[] = ['processing', 'failed'];

/** 2.2 steps on average. */
function drawSteps(chance: number): readonly Step[] {
  if (chance < 0.55) return ['processing', 'succeeded'];
  if (chance < 0.75) return ['authorized', 'captured'];
  if (chance < 0.95) return ['processing', 'succeeded', 'refunded'];
  return FAILED;
}

/** Spreads consecutive numbers, so that neighbors in time are not neighbors in an index. */
function scatter(n: number): string {
  return (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
}

/**
 * Compares the amount that a shop expects for an order with the captured amount. Refunds and disputes do
 * not count: whether the customer paid the price and what happened to the money later are two questions.
 */
import type { Comparison } from '../../webhooks/orderStatuses.ts';

export interface Expected {
  readonly currency: string;
  readonly amountMinor: number;
}

/** Money captured in one currency. */
export interface Captured {
  readonly currency: string;
  readonly capturedMinor: number;
}

export interface Compared {
  readonly comparison: Comparison;
  /** Captured minus expected: negative while money is missing. */
  readonly differenceMinor: number;
}

export function compareExpected(expected: Expected, captured: readonly Captured[]): Compared {
  const own = captured.find(({ currency }) => currency === expected.currency)?.capturedMinor ?? 0;
  const isElsewhere = captured.some(
    ({ currency, capturedMinor }) => currency !== expected.currency && capturedMinor > 0,
  );
  return {
    comparison: comparisonOf(own, expected.amountMinor, isElsewhere),
    differenceMinor: own - expected.amountMinor,
  };
}

function comparisonOf(
  capturedMinor: number,
  expectedMinor: number,
  isElsewhere: boolean,
): Comparison {
  if (capturedMinor === 0 && isElsewhere) return 'other_currency';
  if (capturedMinor === expectedMinor) return 'paid';
  if (capturedMinor === 0) return 'unpaid';
  return capturedMinor < expectedMinor ? 'underpaid' : 'overpaid';
}

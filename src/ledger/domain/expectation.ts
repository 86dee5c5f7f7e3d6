/**
 * What a shop expects an order to bring, against what came. Only captured money counts, before
 * refunds and disputes: whether the customer paid what was asked is one question, what became of
 * the money afterwards another.
 */

/** Status of an order that the shop registered and that nothing was heard of. */
export const REGISTERED = 'registered';

/** How what came compares with what was expected. */
export const COMPARISONS = ['unpaid', 'underpaid', 'paid', 'overpaid', 'other_currency'] as const;
export type Comparison = (typeof COMPARISONS)[number];

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
  /** Captured less expected: negative while something is missing. */
  readonly differenceMinor: number;
}

export function compareExpected(expected: Expected, captured: readonly Captured[]): Compared {
  const own = captured.find(({ currency }) => currency === expected.currency)?.capturedMinor ?? 0;
  const isElsewhere = captured.some(
    ({ currency, capturedMinor }) => currency !== expected.currency && capturedMinor > 0,
  );
  return {
    comparison: judge(own, expected.amountMinor, isElsewhere),
    differenceMinor: own - expected.amountMinor,
  };
}

function judge(capturedMinor: number, expectedMinor: number, isElsewhere: boolean): Comparison {
  if (capturedMinor === 0 && isElsewhere) return 'other_currency';
  if (capturedMinor === expectedMinor) return 'paid';
  if (capturedMinor === 0) return 'unpaid';
  return capturedMinor < expectedMinor ? 'underpaid' : 'overpaid';
}

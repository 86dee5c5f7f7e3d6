/**
 * What the balance of psp.clearing consists of. Terms: a *part* is a reason why money is in clearing; an *item*
 * is one resource, line or settlement with an amount in a part.
 *
 * 1. The items of a currency add up to the balance of psp.clearing, regardless of what was imported, matched
 *    or written off. For what a report states is either of a resource, or of nothing that is known; and what is
 *    settled either arrived, or did not.
 */
import { formatInstant } from './time.ts';

export const CLEARING_PARTS = {
  not_reported: 'moved by the service, and in no settlement report',
  reported_differently: 'reported with another amount than the service moved',
  unknown_lines: 'reported, and about nothing that the ledger has',
  not_arrived: 'settled, and not at the bank yet',
  arrived_differently: 'arrived with another amount than was settled',
  unknown_arrivals: 'arrived at the bank, and of no known settlement',
} as const;
export type ClearingPart = keyof typeof CLEARING_PARTS;
export const CLEARING_PART_NAMES = Object.keys(CLEARING_PARTS) as readonly ClearingPart[];

export interface ClearingPartSum {
  readonly part: ClearingPart;
  readonly items: number;
  readonly amountMinor: bigint;
  /** Of its oldest item; microseconds since 1970. */
  readonly sinceMicros: number;
}

export interface CurrencyClearing {
  readonly currency: string;
  readonly balanceMinor: bigint;
  readonly parts: readonly ClearingPartSum[];
}

export interface ClearingItem {
  readonly part: ClearingPart;
  /** `payment:pay_1`, `line:12` or `settlement:3`. */
  readonly subject: string;
  /** What the report calls a settlement, and what a line names or states; null for resources. */
  readonly reference: string | null;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly sinceMicros: number;
}

/** Where an item is in the list, oldest first. */
export function clearingPlaceOf({ sinceMicros, subject }: ClearingItem): readonly string[] {
  return [formatInstant(sinceMicros), subject];
}

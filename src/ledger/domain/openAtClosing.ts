/**
 * What was under way at the end of a closed month, as it was closed.
 *
 * 1. A closing contains the postings up to its last number (closings.ts). So what was under way then is what the
 *    journal shows now, with the resources that have late postings as they were without these. Its sums are the
 *    balances of the accounts in the closing.
 * 2. Of the oldest, those without late postings are read apart from those with them, however many these are.
 */
import { type OpenItemName, type OpenItems, oldestFirst } from './statement.ts';

/** A resource with late postings on the legs of an item, in one currency. */
export interface ItemWithLatePostings {
  readonly item: OpenItemName;
  readonly currency: string;
  readonly id: string;
  /** What is open at the end of the month by the whole journal, and by the closing. */
  readonly nowMinor: bigint;
  readonly closedMinor: bigint;
  /** By the closing; null if it had moved nothing. */
  readonly sinceMicros: number | null;
}

type Oldest = OpenItems['oldest'][number];

/**
 * @param now with the oldest that have no late postings
 * @param most how many of the oldest are listed
 */
export function openAtClosing(
  now: readonly OpenItems[],
  late: readonly ItemWithLatePostings[],
  most: number,
): readonly OpenItems[] {
  const keys = new Set([...now, ...late].map(keyOf));
  return [...keys].sort().flatMap((key) => {
    const own = late.filter((one) => keyOf(one) === key);
    const known = now.find((one) => keyOf(one) === key);
    const named = known ?? own[0];
    if (!named) return [];
    const { item, currency } = named;
    const open = openOf(known, own, most);
    return open.count === 0 ? [] : [{ item, currency, ...open }];
  });
}

function keyOf({ item, currency }: Pick<OpenItems, 'item' | 'currency'>): string {
  return `${item} ${currency}`;
}

const NOTHING = { count: 0, amountMinor: 0n, oldest: [] } as const;

function openOf(
  known: OpenItems | undefined,
  late: readonly ItemWithLatePostings[],
  most: number,
): Pick<OpenItems, 'count' | 'amountMinor' | 'oldest'> {
  const { count, amountMinor, oldest } = known ?? NOTHING;
  const replaced = new Set(late.map(({ id }) => id));
  const added = late.flatMap(({ id, closedMinor, sinceMicros }): readonly Oldest[] =>
    closedMinor === 0n || sinceMicros === null
      ? []
      : [{ id, amountMinor: closedMinor, sinceMicros }],
  );
  const removed = late.filter(({ nowMinor }) => nowMinor !== 0n);
  const listed = [...oldest.filter(({ id }) => !replaced.has(id)), ...added].toSorted(oldestFirst);
  return {
    count: count - removed.length + added.length,
    amountMinor: late.reduce(
      (sum, { nowMinor, closedMinor }) => sum - nowMinor + closedMinor,
      amountMinor,
    ),
    oldest: listed.slice(0, most),
  };
}

/** Sums of amounts, which may exceed the exact integers: statements return them as text. */
import type { DaySums, OpenItemName, OpenItems } from '../../domain/statement.ts';

/** A row as its statement returns it. */
export type SumsAsText<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends bigint ? string : Row[Name];
};

export function daySumsOf(rows: readonly SumsAsText<DaySums>[]): readonly DaySums[] {
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
    lateMinor: BigInt(row.lateMinor),
  }));
}

/** One of the oldest open items, with the number and sum of all of its name and currency. */
export interface OpenItemRow {
  readonly item: OpenItemName;
  readonly currency: string;
  readonly id: string;
  readonly open: string;
  readonly sinceMicros: number;
  readonly count: number;
  readonly sum: string;
}

export function openItemsOf(rows: readonly OpenItemRow[]): readonly OpenItems[] {
  const items = new Map<string, OpenItems>();
  for (const { item, currency, count, id, sinceMicros, open, sum } of rows) {
    const key = `${item} ${currency}`;
    const known = items.get(key)?.oldest ?? [];
    const oldest = [...known, { id, sinceMicros, amountMinor: BigInt(open) }];
    items.set(key, { item, currency, count, amountMinor: BigInt(sum), oldest });
  }
  return [...items.values()];
}

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

/** What names an open item. */
export interface NamedItem {
  readonly item: OpenItemName;
  readonly currency: string;
  readonly id: string;
}

/** Which of the open items are listed: the oldest, without those that are only counted. */
export interface ListedItems {
  readonly most: number;
  readonly unlisted: readonly NamedItem[];
}

/** Names of open items as `itemKey` makes them in a statement. */
export function itemKeys(items: readonly NamedItem[]): readonly string[] {
  return items.map(({ item, currency, id }) => `${item} ${currency} ${id}`);
}

/** @param item of a row @param id of its resource */
export function itemKey(row: string, id: string): string {
  return `${row}.item || ' ' || ${row}.currency || ' ' || ${id}`;
}

/** The number and sum of all open items of a name and currency, with one of the oldest, if any is listed. */
export interface OpenItemRow extends Pick<NamedItem, 'item' | 'currency'> {
  readonly id: string | null;
  readonly open: string | null;
  readonly sinceMicros: number | null;
  readonly count: number;
  readonly sum: string;
}

export function openItemsOf(rows: readonly OpenItemRow[]): readonly OpenItems[] {
  const items = new Map<string, OpenItems>();
  for (const { item, currency, count, id, sinceMicros, open, sum } of rows) {
    const key = `${item} ${currency}`;
    const known = items.get(key)?.oldest ?? [];
    const listed =
      id === null || sinceMicros === null
        ? []
        : [{ id, sinceMicros, amountMinor: BigInt(open ?? 0) }];
    const oldest = [...known, ...listed];
    items.set(key, { item, currency, count, amountMinor: BigInt(sum), oldest });
  }
  return [...items.values()];
}

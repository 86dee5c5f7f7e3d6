/** Values as a database has them: JSON that nobody changes, text of a field, and an order of rows. */

/** A copy of a JSON value, without what JSON has no words for, that throws where somebody changes it. */
export function frozenJson<Value>(value: Value): Value {
  const freeze = (_name: string, part: unknown): unknown => Object.freeze(part);
  return JSON.parse(JSON.stringify(value), freeze) as Value;
}

/** A field of a JSON object as text; null where there is none. */
export function textOf(state: object, name: string): string | null {
  const value = (state as Readonly<Record<string, unknown>>)[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  return JSON.stringify(value);
}

/** Whether each field has one of the values that are allowed for it; a missing one counts as empty. */
export function hasAllowed(
  state: object,
  allowed: Readonly<Record<string, readonly string[]>>,
): boolean {
  return Object.entries(allowed).every(([name, values]) =>
    values.includes(textOf(state, name) ?? ''),
  );
}

type Sortable = string | number | null;

/** Compares rows by several values, the first difference decides; null comes last. */
function compare(a: readonly Sortable[], b: readonly Sortable[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null;
    if (left === right) continue;
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right ? -1 : 1;
  }
  return 0;
}

/** Sorts by several values. */
export function sortedBy<Row>(
  rows: Iterable<Row>,
  valuesOf: (row: Row) => readonly Sortable[],
): readonly Row[] {
  const keyed = [...rows].map((row) => ({ row, values: valuesOf(row) }));
  return keyed.sort((a, b) => compare(a.values, b.values)).map(({ row }) => row);
}

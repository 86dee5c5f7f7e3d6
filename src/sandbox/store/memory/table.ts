/**
 * Rows by their key, in the order of their first insert.
 *
 * *Journal*: what puts back the rows that a transaction changed.
 *
 * 1. A row is replaced as a whole, never changed: who has read it keeps what was read.
 * 2. An index finds a row by each value that the row has for it, as of its last write.
 * 3. `rollBack` puts back everything that was written since `begin`.
 */
export interface Journal {
  begin(): void;
  record(undo: () => void): void;
  rollBack(): void;
}

export function createJournal(): Journal {
  let undos: (() => void)[] = [];
  return {
    begin: () => {
      undos = [];
    },
    record: (undo) => undos.push(undo),
    rollBack: () => {
      for (const undo of undos.reverse()) undo();
      undos = [];
    },
  };
}

/** The value of a row in an index; undefined leaves the row out. */
export type IndexValue<Row> = (row: Row) => string | undefined;

export interface Table<Row, Name extends string = never> {
  get(key: string): Row | undefined;
  all(): Iterable<Row>;
  find(index: Name, value: string): Iterable<Row>;
  /** Inserts or replaces a row. */
  put(row: Row): void;
}

export interface TableDefinition<Row, Name extends string> {
  readonly keyOf: (row: Row) => string;
  readonly indexes?: Readonly<Record<Name, IndexValue<Row>>>;
}

export function createTable<Row extends object, Name extends string = never>(
  { keyOf, indexes }: TableDefinition<Row, Name>,
  journal: Journal,
): Table<Row, Name> {
  const rows = new Map<string, Row>();
  const indexed = new Map(
    Object.entries<IndexValue<Row>>(indexes ?? {}).map(([name, valueFor]) => [
      name,
      createIndex(valueFor),
    ]),
  );
  const replace = (key: string, before: Row | undefined, after: Row | undefined): void => {
    if (after) rows.set(key, after);
    else rows.delete(key);
    for (const index of indexed.values()) index.replace(key, before, after);
  };
  return {
    get: (key) => rows.get(key),
    all: () => rows.values(),
    find: (name, value) => indexed.get(name)?.find(value) ?? [],
    put: (row) => {
      const key = keyOf(row);
      const before = rows.get(key);
      replace(key, before, row);
      journal.record(() => replace(key, row, before));
    },
  };
}

interface Index<Row> {
  find(value: string): Iterable<Row> | undefined;
  replace(key: string, before: Row | undefined, after: Row | undefined): void;
}

function createIndex<Row>(valueFor: IndexValue<Row>): Index<Row> {
  const groups = new Map<string, Map<string, Row>>();
  const remove = (key: string, value: string): void => {
    const group = groups.get(value);
    group?.delete(key);
    if (group?.size === 0) groups.delete(value);
  };
  const add = (key: string, value: string, row: Row): void => {
    const group = groups.get(value);
    if (group) group.set(key, row);
    else groups.set(value, new Map([[key, row]]));
  };
  return {
    find: (value) => groups.get(value)?.values(),
    replace: (key, before, after) => {
      const left = before && valueFor(before);
      const entered = after && valueFor(after);
      if (left !== undefined && left !== entered) remove(key, left);
      if (after && entered !== undefined) add(key, entered, after);
    },
  };
}

/**
 * Rows of the model of PostgreSQL at READ COMMITTED: versions, locks and unique keys.
 *
 * Terms. *Cell*: the place of one row, with its committed versions and the draft of the one transaction that
 * changes it. *Snapshot*: the number of the last commit that a statement sees.
 *
 * 1. A statement sees what was committed when it began, and what its transaction wrote.
 * 2. A row has one writer, which holds its lock until its transaction ends. Others wait, or skip the row.
 * 3. A statement that has a lock sees the row's newest version, and looks whether the row still is one that
 *    it means.
 * 4. An insert that meets an uncommitted row with the same key waits for its transaction.
 */

export interface Version<R> {
  /** Number of the commit. */
  readonly commit: number;
  /** Undefined: deleted. */
  readonly row: R | undefined;
}

export type LockMode = 'update' | 'share';

export interface Cell<R = unknown> {
  readonly table: Table<R>;
  readonly key: string;
  versions: Version<R>[];
  writer: Transaction | undefined;
  draft: R | undefined;
  holders: Map<Transaction, LockMode>;
  waiting: Waiter[];
}

/** A statement that waits for a cell; `mode` undefined waits for its transaction to end and locks nothing. */
export interface Waiter {
  readonly tx: Transaction;
  readonly mode: LockMode | undefined;
  readonly resume: () => void;
}

export interface Table<R> {
  readonly name: string;
  readonly keyOf: (row: R) => string;
  /** Unique keys besides the primary one; undefined for a row that the index leaves out. */
  readonly uniques: readonly ((row: R) => string | undefined)[];
  readonly cells: Map<string, Cell<R>>;
  /** The last number of its sequence; a transaction that is rolled back does not give it back. */
  serial: number;
}

export interface Transaction {
  readonly name: string;
  /** Counts transactions. */
  readonly serial: number;
  /** `now()` of its statements. */
  readonly startMs: number;
  readonly written: Set<Cell>;
  readonly locked: Set<Cell>;
  waitsFor: Cell | undefined;
  /** Ends the wait of its statement, when the transaction ends before. */
  abandon?: (() => void) | undefined;
  state: 'open' | 'failed' | 'ended';
}

export function createTable<R>(
  name: string,
  keyOf: (row: R) => string,
  ...uniques: ((row: R) => string | undefined)[]
): Table<R> {
  return { name, keyOf, uniques, cells: new Map(), serial: 0 };
}

export function createCell<R>(table: Table<R>, key: string): Cell<R> {
  return {
    table,
    key,
    versions: [],
    writer: undefined,
    draft: undefined,
    holders: new Map(),
    waiting: [],
  };
}

/** Inserts a row before anything runs. */
export function insertFirst<R>(table: Table<R>, row: R): void {
  const key = table.keyOf(row);
  table.cells.set(key, { ...createCell(table, key), versions: [{ commit: 0, row }] });
}

/** What a statement yields while it must wait. */
export interface Wait {
  readonly cell: Cell;
  readonly mode: LockMode | undefined;
}

export type Waiting<T> = Generator<Wait, T, void>;

/** An error as PostgreSQL sends it. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface LockOptions<R> {
  readonly mode?: LockMode;
  readonly isSkipping?: boolean;
  readonly orderBy?: (a: R, b: R) => number;
  readonly limit?: number;
}

/** One execution of a statement. */
export interface Execution {
  readonly tx: Transaction;
  /** `now()`, milliseconds since 1970. */
  readonly nowMs: number;
  /** `statement_timestamp()`. */
  readonly statementMs: number;
  /** The rows that the statement sees. */
  rows<R>(table: Table<R>, where?: (row: R) => boolean): R[];
  /** `for update` or `for share`: the newest versions of the rows, in the order of `orderBy`. */
  lock<R>(table: Table<R>, where: (row: R) => boolean, options?: LockOptions<R>): Waiting<R[]>;
  /** @returns the new rows */
  update<R>(table: Table<R>, where: (row: R) => boolean, change: (row: R) => R): Waiting<R[]>;
  /** @returns the deleted rows */
  remove<R>(table: Table<R>, where: (row: R) => boolean): Waiting<R[]>;
  /**
   * @param onConflict a row of the same key: `fail`, `nothing`, or what it becomes; undefined leaves it as it is
   * @returns the row that was inserted or updated
   */
  insert<R>(
    table: Table<R>,
    row: R,
    onConflict?: 'fail' | 'nothing' | ((existing: R) => R | undefined),
  ): Waiting<R | undefined>;
  nextSerial(table: { serial: number }): number;
  /** `pg_try_advisory_xact_lock` */
  tryAdvisory(name: string): boolean;
  /** `pg_advisory_xact_lock` */
  lockAdvisory(name: string): Waiting<void>;
}

/** The table as the last commit left it. */
export function committedRows<R>(table: Table<R>): R[] {
  return [...table.cells.values()].flatMap(({ versions }) => versions.at(-1)?.row ?? []);
}

export function newestOf<R>(cell: Cell<R>, tx: Transaction): R | undefined {
  return cell.writer === tx ? cell.draft : cell.versions.at(-1)?.row;
}

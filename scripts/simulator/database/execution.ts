/** Executes one statement of the model on the rows (rules of rows.ts). */
import { SQLSTATES } from '../../../src/platform/db/sqlStates.ts';
import type { Locks } from './locks.ts';
import {
  type Cell,
  createCell,
  type Execution,
  type LockOptions,
  newestOf,
  SqlError,
  type Table,
  type Transaction,
  type Waiting,
} from './rows.ts';

export interface ExecutionParts {
  readonly tx: Transaction;
  readonly locks: Locks;
  /** The last commit that the statement sees. */
  readonly snapshot: number;
  readonly statementMs: number;
  /** Advisory locks: rows that nobody writes, by name. */
  readonly advisory: Table<string>;
  readonly traits: Traits;
}

/** What the text of a statement decides about its locks, so that a mistake in the text is one of the model. */
export interface Traits {
  readonly isLocking: boolean;
  readonly isSkipping: boolean;
  readonly isOrdered: boolean;
}

interface Found<R> {
  readonly cell: Cell<R>;
  readonly row: R;
}

type OnConflict<R> = 'fail' | 'nothing' | ((existing: R) => R | undefined);

export class ModelExecution implements Execution {
  readonly tx: Transaction;
  readonly nowMs: number;
  readonly statementMs: number;
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
    this.tx = parts.tx;
    this.nowMs = parts.tx.startMs;
    this.statementMs = parts.statementMs;
  }

  rows<R>(table: Table<R>, where: (row: R) => boolean = () => true): R[] {
    return this.#meant(table, where).map(({ row }) => row);
  }

  *lock<R>(
    table: Table<R>,
    where: (row: R) => boolean,
    options: LockOptions<R> = {},
  ): Waiting<R[]> {
    if (!this.#parts.traits.isLocking) return this.rows(table, where).slice(0, options.limit);
    const found = yield* this.#locked(table, where, options);
    return found.map(({ row }) => row);
  }

  *update<R>(table: Table<R>, where: (row: R) => boolean, change: (row: R) => R): Waiting<R[]> {
    const found = yield* this.#locked(table, where, {});
    return found.map(({ cell, row }) => this.#write(cell, change(row)));
  }

  *remove<R>(table: Table<R>, where: (row: R) => boolean): Waiting<R[]> {
    const found = yield* this.#locked(table, where, {});
    for (const { cell } of found) this.#write(cell, undefined);
    return found.map(({ row }) => row);
  }

  *insert<R>(table: Table<R>, row: R, onConflict: OnConflict<R> = 'fail'): Waiting<R | undefined> {
    for (;;) {
      const other = conflicting(table, row, this.tx);
      if (other === undefined) {
        const cell = cellOf(table, table.keyOf(row));
        yield* this.#acquire(cell);
        // Another transaction may have inserted it meanwhile.
        if (conflicting(table, row, this.tx) === undefined) return this.#write(cell, row);
      } else if (other.writer !== undefined && other.writer !== this.tx) {
        yield { cell: other as Cell, mode: undefined };
      } else {
        const result = yield* this.#resolve(other, row, onConflict);
        if (result !== GONE) return result;
      }
    }
  }

  nextSerial(table: { serial: number }): number {
    table.serial += 1;
    return table.serial;
  }

  tryAdvisory(name: string): boolean {
    const { advisory, locks } = this.#parts;
    return locks.acquire(cellOf(advisory, name) as Cell, this.tx, 'update');
  }

  *lockAdvisory(name: string): Waiting<void> {
    yield* this.#acquire(cellOf(this.#parts.advisory, name));
  }

  /** What an insert does about a row with the same key; GONE if it was deleted meanwhile. */
  *#resolve<R>(
    other: Cell<R>,
    row: R,
    onConflict: OnConflict<R>,
  ): Waiting<R | undefined | typeof GONE> {
    if (onConflict === 'nothing') return undefined;
    if (onConflict === 'fail') {
      const { name, keyOf } = other.table;
      throw new SqlError(
        SQLSTATES.unique_violation,
        `${name} has a row with the key ${keyOf(row)}`,
      );
    }
    yield* this.#acquire(other);
    const existing = newestOf(other, this.tx);
    if (existing === undefined) return GONE;
    const changed = onConflict(existing);
    return changed === undefined ? undefined : this.#write(other, changed);
  }

  *#acquire<R>(cell: Cell<R>): Waiting<void> {
    if (this.#parts.locks.acquire(cell as Cell, this.tx, 'update')) return;
    yield { cell: cell as Cell, mode: 'update' };
  }

  *#locked<R>(
    table: Table<R>,
    where: (row: R) => boolean,
    options: LockOptions<R>,
  ): Waiting<Found<R>[]> {
    const { mode = 'update', limit = Number.POSITIVE_INFINITY } = options;
    const { locks, traits } = this.#parts;
    const isSkipping = options.isSkipping === true && traits.isSkipping;
    const result: Found<R>[] = [];
    for (const { cell } of this.#ordered(table, where, options)) {
      if (result.length >= limit) break;
      if (!locks.acquire(cell as Cell, this.tx, mode)) {
        if (isSkipping) continue;
        yield { cell: cell as Cell, mode };
      }
      const row = newestOf(cell, this.tx);
      if (row !== undefined && where(row)) result.push({ cell, row });
    }
    return result;
  }

  #ordered<R>(
    table: Table<R>,
    where: (row: R) => boolean,
    { orderBy }: LockOptions<R>,
  ): readonly Found<R>[] {
    const found = this.#meant(table, where);
    if (orderBy && this.#parts.traits.isOrdered) return found.sort((a, b) => orderBy(a.row, b.row));
    // Rows without an order come in any, here in one that differs between transactions.
    return this.tx.serial % 2 === 1 ? found.reverse() : found;
  }

  /** Cells with a row that the statement sees and means. */
  #meant<R>(table: Table<R>, where: (row: R) => boolean): Found<R>[] {
    const found: Found<R>[] = [];
    for (const cell of table.cells.values()) {
      const row = this.#visible(cell);
      if (row !== undefined && where(row)) found.push({ cell, row });
    }
    return found;
  }

  #visible<R>({ writer, draft, versions }: Cell<R>): R | undefined {
    if (writer === this.tx) return draft;
    const seen = versions.findLast(({ commit }) => commit <= this.#parts.snapshot);
    return seen?.row;
  }

  #write<R, Written extends R | undefined>(cell: Cell<R>, row: Written): Written {
    cell.writer = this.tx;
    cell.draft = row;
    this.tx.written.add(cell as Cell);
    return row;
  }
}

const GONE = Symbol('gone');

function cellOf<R>(table: Table<R>, key: string): Cell<R> {
  const known = table.cells.get(key);
  if (known) return known;
  const cell = createCell(table, key);
  table.cells.set(key, cell);
  return cell;
}

/** The cell of a row with the same primary key or another unique one, committed or not. */
function conflicting<R>(table: Table<R>, row: R, tx: Transaction): Cell<R> | undefined {
  const same = table.cells.get(table.keyOf(row));
  if (same && possibleRows(same, tx).length > 0) return same;
  return table.uniques
    .map((unique) => withUnique(table, unique, unique(row), tx))
    .find((cell) => cell !== undefined);
}

function withUnique<R>(
  ...[table, unique, key, tx]: [
    Table<R>,
    (row: R) => string | undefined,
    string | undefined,
    Transaction,
  ]
): Cell<R> | undefined {
  if (key === undefined) return undefined;
  for (const cell of table.cells.values()) {
    if (possibleRows(cell, tx).some((one) => unique(one) === key)) return cell;
  }
  return undefined;
}

/** What a cell may hold once the transactions have ended. */
function possibleRows<R>(cell: Cell<R>, tx: Transaction): R[] {
  const committed = cell.versions.at(-1)?.row;
  const own = cell.writer === undefined ? [committed] : [cell.draft];
  const rows = cell.writer === undefined || cell.writer === tx ? own : [cell.draft, committed];
  return rows.filter((row): row is R & {} => row !== undefined && row !== null);
}

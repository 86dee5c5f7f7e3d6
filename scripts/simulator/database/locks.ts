/** Locks on rows, which end with their transaction, and what waits for them. */
import { SQLSTATES } from '../../../src/platform/db/sqlStates.ts';
import { type Cell, type LockMode, SqlError, type Transaction, type Wait } from './rows.ts';

export interface Locks {
  /** @returns whether the transaction has the lock now */
  acquire(cell: Cell, tx: Transaction, mode: LockMode): boolean;
  /** Waits; `resume` is called once, when the lock is the transaction's. @throws SqlError of a deadlock */
  wait(wait: Wait, tx: Transaction, resume: () => void): void;
  /** Releases every lock of a transaction. */
  release(tx: Transaction): void;
  deadlocks(): number;
}

export function createLocks(): Locks {
  let deadlocks = 0;

  const isFree = (cell: Cell, tx: Transaction, mode: LockMode | undefined): boolean => {
    if (mode === undefined) return cell.writer === undefined || cell.writer === tx;
    for (const [holder, held] of cell.holders) {
      if (holder !== tx && (mode === 'update' || held === 'update')) return false;
    }
    return true;
  };
  const take = (cell: Cell, tx: Transaction, mode: LockMode): void => {
    const held = cell.holders.get(tx);
    cell.holders.set(tx, held === 'update' ? held : mode);
    tx.locked.add(cell);
  };
  const grant = (cell: Cell): void => {
    while (cell.waiting.length > 0) {
      const [first] = cell.waiting;
      if (first === undefined || !isFree(cell, first.tx, first.mode)) return;
      cell.waiting.shift();
      first.tx.waitsFor = undefined;
      if (first.mode !== undefined) take(cell, first.tx, first.mode);
      first.resume();
    }
  };
  /** Whether `tx` would wait for a transaction that waits for `tx`. */
  const isDeadlock = (cell: Cell, tx: Transaction): boolean => {
    const seen = new Set<Cell>();
    const reaches = (next: Cell): boolean => {
      if (seen.has(next)) return false;
      seen.add(next);
      const before = [...next.holders.keys(), ...next.waiting.map((one) => one.tx)];
      return before.some((one) =>
        one === tx ? next !== cell : one.waitsFor !== undefined && reaches(one.waitsFor),
      );
    };
    return reaches(cell);
  };
  return {
    deadlocks: () => deadlocks,
    acquire: (cell, tx, mode) => {
      if (!isFree(cell, tx, mode)) return false;
      // Whoever came first is first, unless it holds the row already.
      if (cell.waiting.length > 0 && !cell.holders.has(tx)) return false;
      take(cell, tx, mode);
      return true;
    },
    wait: ({ cell, mode }, tx, resume) => {
      if (isDeadlock(cell, tx)) {
        deadlocks += 1;
        throw new SqlError(
          SQLSTATES.deadlock_detected,
          `deadlock detected at ${cell.table.name} ${cell.key}`,
        );
      }
      tx.waitsFor = cell;
      cell.waiting.push({ tx, mode, resume });
    },
    release: (tx) => {
      if (tx.waitsFor) {
        tx.waitsFor.waiting = tx.waitsFor.waiting.filter((one) => one.tx !== tx);
        tx.waitsFor = undefined;
      }
      for (const cell of tx.locked) cell.holders.delete(tx);
      for (const cell of tx.locked) grant(cell);
    },
  };
}

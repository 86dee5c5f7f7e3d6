/**
 * Archives the rows of a step of retention.
 *
 * 1. When it resolves, all rows of the step are durable in the archive.
 * 2. What it returns records the batch in the transaction that removes the rows. It refuses, and so rolls
 *    the removal back, if more rows were removed than archived.
 */
import { inChunks } from '../platform/collections.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { RowLine } from '../platform/db/rowLine.ts';
import { recordBatch } from './store/batches.ts';
import { writeTimesInUtc } from './store/session.ts';
import { type WriteParts, type WrittenBatch, writeBatch } from './writeBatch.ts';

/** Reads rows by their keys, in the order of the keys. */
export type ReadLines = (tx: Queryable, keys: readonly number[]) => Promise<readonly RowLine[]>;

export interface ArchiveStepParts extends WriteParts {
  readonly db: Database;
  /** By the names of the classes. */
  readonly lines: Readonly<Record<string, ReadLines>>;
}

/** Records the batch in the removal's transaction. */
export type RecordRemoval = (tx: Queryable, removed: number) => Promise<void>;

/** Rows that are read at once. */
const SLICE_ROWS = 500;

/** @param keys of the rows that are about to be removed */
export async function archiveRows(
  parts: ArchiveStepParts,
  className: string,
  keys: readonly number[],
): Promise<RecordRemoval> {
  const read = parts.lines[className];
  if (read === undefined) throw new Error(`rows of the class ${className} cannot be archived`);
  const sorted = keys.toSorted((a, b) => a - b);
  const written = await writeBatch(parts, className, slices(parts.db, sorted, read));
  if (written?.rows !== keys.length) {
    throw new Error(
      `${written?.rows ?? 0} of ${keys.length} rows of the class ${className} could be archived, so none is removed`,
    );
  }
  return (tx, removed) => recordRemoval(tx, written, removed);
}

async function* slices(
  db: Database,
  keys: readonly number[],
  read: ReadLines,
): AsyncGenerator<RowLine> {
  for (const slice of inChunks(keys, SLICE_ROWS)) {
    yield* await db.transaction(async (tx) => {
      await writeTimesInUtc(tx);
      return await read(tx, slice);
    });
  }
}

async function recordRemoval(tx: Queryable, written: WrittenBatch, removed: number): Promise<void> {
  if (removed > written.rows) {
    throw new Error(
      `${removed} rows of the class ${written.className} would be removed, and ${written.rows} are archived`,
    );
  }
  if (removed > 0) await recordBatch(tx, written, removed);
}

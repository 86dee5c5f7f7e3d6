/**
 * Reads rows of an archive back, in the order in which they were archived. What becomes of them is up to
 * the caller: bodies return to the ledger, rows of other classes to a table for reading.
 */
import { z } from 'zod';
import type { RowLine } from '../platform/db/rowLine.ts';
import { classOfManifest, mayHaveKeys } from './domain/batch.ts';
import type { Manifest } from './manifest.ts';
import { ArchiveDamage, readLines, readManifest } from './readBatch.ts';
import type { ArchiveTarget } from './target.ts';

export interface ImportRange {
  readonly className: string;
  /** Only rows with keys in this range, both included. */
  readonly first: number;
  readonly last: number;
}

/** Rows in one call. Bodies may be large. */
const CHUNK_ROWS = 200;

const KEYED = z.object({ key: z.string().regex(/^\d{1,16}$/) });

export interface ImportSteps {
  /** Stores some rows, in a transaction of its own; @returns how many it stored */
  readonly store: (rows: readonly RowLine[]) => Promise<number>;
  /** Called after each chunk and each batch with the number of lines read, of those in all batches. */
  readonly onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
}

/** @returns how many rows were read, and how many stored */
export async function importBatches(
  target: ArchiveTarget,
  range: ImportRange,
  { store, onProgress }: ImportSteps,
): Promise<{ readonly read: number; readonly stored: number }> {
  let [read, stored, done] = [0, 0, 0];
  const manifests = await batchesIn(target, range);
  const total = manifests.reduce((rows, manifest) => rows + manifest.rows, 0);
  for (const manifest of manifests) {
    let chunk: RowLine[] = [];
    const flush = async (): Promise<void> => {
      if (chunk.length > 0) stored += await store(chunk);
      chunk = [];
      onProgress?.({ done, total });
    };
    for await (const line of readLines(target, manifest)) {
      const key = keyOf(line);
      done += 1;
      if (key < range.first || key > range.last) continue;
      chunk.push({ key, line });
      read += 1;
      if (chunk.length === CHUNK_ROWS) await flush();
    }
    await flush();
  }
  return { read, stored };
}

/** Every line has a key, so that its place in the ledger is known without its class. */
function keyOf(line: string): number {
  const key = Number(KEYED.safeParse(JSON.parse(line)).data?.key);
  if (!Number.isSafeInteger(key)) throw new ArchiveDamage('a line has no key');
  return key;
}

/** The manifests with rows in a range, oldest first. Others, of which a store may have many thousands, are not read. */
async function batchesIn(target: ArchiveTarget, range: ImportRange): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for await (const name of target.list(range.className)) {
    if (classOfManifest(name) !== range.className || !mayHaveKeys(name, range)) continue;
    const { manifest } = await readManifest(target, name);
    manifests.push(manifest);
  }
  return manifests.toSorted((a, b) => (a.archived_at < b.archived_at ? -1 : 1));
}

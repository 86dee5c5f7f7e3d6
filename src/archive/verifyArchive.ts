/**
 * Proves an archive.
 *
 * 1. Each batch of which the ledger removed rows has the manifest that was written then, and every file
 *    of the manifest has its hash, its rows and its bytes.
 * 2. Batches that the ledger knows nothing of are checked in the same way and counted: they were written
 *    and not removed, because a process ended in between, or they belong to another database.
 * 3. Parts that no manifest names are counted: a process ended before it wrote the manifest, and rows are
 *    removed only after that. They are counted only if every batch is intact, because a lost manifest
 *    leaves parts that are needed.
 */
import type { Queryable } from '../platform/db/database.ts';
import { keysetRows } from '../platform/keyset.ts';
import { classOfManifest, isAnyPartName } from './domain/batch.ts';
import { ArchiveDamage, readLines, readManifest } from './readBatch.ts';
import { type RecordedBatch, readBatchesAfter, readRecordedNames } from './store/batches.ts';
import type { ArchiveTarget } from './target.ts';

export interface ArchiveProblem {
  readonly batch: string;
  readonly problem: string;
}

export interface ArchiveReport {
  /** Batches with removed rows. */
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  /** Batches that the ledger has no record of. */
  readonly unrecorded: number;
  readonly problems: number;
  /** The first problems. */
  readonly examples: readonly ArchiveProblem[];
  /** Parts of no batch; 0 while there are problems. */
  readonly incompleteParts: number;
  /** The names of the first of them. */
  readonly incompleteExamples: readonly string[];
}

export interface VerifyOptions {
  readonly className: string | undefined;
  readonly onProgress?: (batches: number) => void;
}

const PAGE = 500;
const MAX_EXAMPLES = 20;

export async function verifyArchive(
  db: Queryable,
  target: ArchiveTarget,
  { className, onProgress }: VerifyOptions,
): Promise<ArchiveReport> {
  const counts = { batches: 0, rows: 0, bytes: 0, unrecorded: 0, problems: 0 };
  const examples: ArchiveProblem[] = [];
  const named = new Set<string>();
  const check = async (name: string, recorded?: RecordedBatch): Promise<void> => {
    try {
      const { rows, bytes, files } = await checkBatch(target, name, recorded);
      for (const file of files) named.add(file);
      counts.rows += rows;
      counts.bytes += bytes;
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error;
      counts.problems += 1;
      if (examples.length < MAX_EXAMPLES) examples.push({ batch: name, problem: error.message });
    }
    onProgress?.(counts.batches + counts.unrecorded);
  };
  for await (const recorded of recordedBatches(db, className)) {
    counts.batches += 1;
    await check(recorded.name, recorded);
  }
  for await (const name of unrecordedManifests(db, target, className)) {
    counts.unrecorded += 1;
    await check(name);
  }
  const incomplete =
    counts.problems === 0 ? await findUnnamedParts(target, { className, named }) : [];
  return {
    ...counts,
    examples,
    incompleteParts: incomplete.length,
    incompleteExamples: incomplete.slice(0, MAX_EXAMPLES),
  };
}

async function findUnnamedParts(
  target: ArchiveTarget,
  { className, named }: { readonly className: string | undefined; readonly named: Set<string> },
): Promise<readonly string[]> {
  const unnamed: string[] = [];
  for await (const name of target.list(className)) {
    if (isAnyPartName(name) && !named.has(name)) unnamed.push(name);
  }
  return unnamed;
}

function recordedBatches(
  db: Queryable,
  className: string | undefined,
): AsyncIterable<RecordedBatch> {
  return keysetRows<RecordedBatch>(PAGE, (last, limit) =>
    readBatchesAfter(db, { className, after: last?.name ?? '', limit }),
  );
}

async function* unrecordedManifests(
  db: Queryable,
  target: ArchiveTarget,
  className: string | undefined,
): AsyncGenerator<string> {
  let names: string[] = [];
  const unrecorded = async (): Promise<readonly string[]> => {
    const recorded = await readRecordedNames(db, names);
    const found = names.filter((name) => !recorded.has(name));
    names = [];
    return found;
  };
  for await (const name of target.list(className)) {
    if (classOfManifest(name) === undefined) continue;
    names.push(name);
    if (names.length === PAGE) yield* await unrecorded();
  }
  yield* await unrecorded();
}

async function checkBatch(
  target: ArchiveTarget,
  name: string,
  recorded: RecordedBatch | undefined,
): Promise<{ readonly rows: number; readonly bytes: number; readonly files: readonly string[] }> {
  const { manifest, sha256 } = await readManifest(target, name);
  if (recorded && recorded.manifestSha256 !== sha256) {
    throw new ArchiveDamage('its manifest is not the one that was written before the removal');
  }
  if (recorded && recorded.removed > manifest.rows) {
    throw new ArchiveDamage(
      `it has ${manifest.rows} rows, and ${recorded.removed} were removed from the ledger`,
    );
  }
  let rows = 0;
  for await (const _line of readLines(target, manifest)) rows += 1;
  return {
    rows,
    bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    files: manifest.files.map(({ name: file }) => file),
  };
}

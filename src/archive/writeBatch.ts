/**
 * Writes what retention is about to remove.
 *
 * 1. `write` resolves only when every part and, after them, the manifest are durable.
 * 2. Names follow from the content (domain/batch.ts), so archiving the same rows again, after a crash
 *    between the archive and the removal, changes nothing.
 * 3. A manifest that already lists exactly these files is left as it is: the ledger may hold its hash.
 */
import { createHash, hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../platform/clock.ts';
import type { RowLine } from '../platform/db/rowLine.ts';
import { type BatchIdentity, manifestName, partName } from './domain/batch.ts';
import { formatManifest, type Manifest, type ManifestFile, parseManifest } from './manifest.ts';
import { createPartWriter, type Part, type PartLimits } from './partWriter.ts';
import type { ArchiveTarget } from './target.ts';

/** A batch that is durable. */
export interface WrittenBatch {
  readonly className: string;
  /** The name of its manifest. */
  readonly name: string;
  readonly rows: number;
  readonly files: number;
  /** In the archive, without the manifest. */
  readonly bytes: number;
  readonly manifestSha256: string;
}

export interface WriteParts {
  readonly target: ArchiveTarget;
  readonly clock: Clock;
  readonly installation: string | undefined;
  /** Of Tallyhook. */
  readonly version: string;
  readonly limits?: PartLimits;
}

/** @returns undefined if there are no rows */
export async function writeBatch(
  parts: WriteParts,
  className: string,
  rows: AsyncIterable<RowLine>,
): Promise<WrittenBatch | undefined> {
  const { target, limits } = parts;
  const writer = createPartWriter(limits);
  const lines = createHash('sha256');
  const files: ManifestFile[] = [];
  const store = async (part: Part | undefined): Promise<void> => {
    if (part === undefined) return;
    const name = partName(className, part.sha256);
    await target.put(name, part.bytes);
    const { rows: count, linesBytes, sha256 } = part;
    files.push({ name, rows: count, bytes: part.bytes.length, lines_bytes: linesBytes, sha256 });
  };
  let first = Number.MAX_SAFE_INTEGER;
  let last = 0;
  for await (const { key, line } of rows) {
    first = Math.min(first, key);
    last = Math.max(last, key);
    lines.update(line).update('\n');
    await store(await writer.add(line));
  }
  await store(await writer.end());
  if (files.length === 0) return undefined;
  const identity = {
    className,
    first,
    last,
    rows: sum(files, ({ rows: count }) => count),
    linesSha256: lines.digest('hex'),
  };
  const manifestSha256 = await putManifest(parts, identity, files);
  return {
    className,
    name: manifestName(identity),
    rows: identity.rows,
    files: files.length,
    bytes: sum(files, ({ bytes }) => bytes),
    manifestSha256,
  };
}

/** @returns the SHA-256 of the manifest that is in the archive now */
async function putManifest(
  { target, clock, installation, version }: WriteParts,
  identity: BatchIdentity,
  files: readonly ManifestFile[],
): Promise<string> {
  const name = manifestName(identity);
  const stored = await target.get(name);
  const existing = stored && (await buffer(stored));
  if (existing && hasFiles(parseManifest(existing), files)) return hash('sha256', existing, 'hex');
  const bytes = formatManifest({
    class: identity.className,
    first_key: String(identity.first),
    last_key: String(identity.last),
    rows: identity.rows,
    lines_bytes: sum(files, (file) => file.lines_bytes),
    lines_sha256: identity.linesSha256,
    files: [...files],
    tallyhook: version,
    installation: installation ?? null,
    archived_at: new Date(clock.nowMs()).toISOString(),
  });
  await target.put(name, bytes);
  return hash('sha256', bytes, 'hex');
}

function hasFiles(manifest: Manifest | undefined, files: readonly ManifestFile[]): boolean {
  return (
    manifest?.files.length === files.length &&
    manifest.files.every(({ sha256 }, index) => sha256 === files[index]?.sha256)
  );
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

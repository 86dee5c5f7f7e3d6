/**
 * Reads a batch back. Everything is checked before it is returned: the hash of a file before its lines,
 * and the counts of the manifest.
 */
import { createHash, hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { toError } from '../platform/errors.ts';
import { type Manifest, type ManifestFile, parseManifest } from './manifest.ts';
import type { ArchiveTarget } from './target.ts';

/** What is wrong with an archive, for people. */
export class ArchiveDamage extends Error {
  override readonly name = 'ArchiveDamage';
}

export interface ReadManifest {
  readonly manifest: Manifest;
  readonly sha256: string;
}

/** @throws ArchiveDamage if the manifest is missing or is not one */
export async function readManifest(target: ArchiveTarget, name: string): Promise<ReadManifest> {
  const stored = await target.get(name);
  if (!stored) throw new ArchiveDamage('its manifest is missing');
  const bytes = await buffer(stored);
  const manifest = parseManifest(bytes);
  if (!manifest) throw new ArchiveDamage('its manifest cannot be read by this version');
  return { manifest, sha256: hash('sha256', bytes, 'hex') };
}

/**
 * The lines of a batch, file by file. Lines of a file come after its hash was compared; the counts and
 * the hash of all lines are compared at the end.
 * @throws ArchiveDamage
 */
export async function* readLines(
  target: ArchiveTarget,
  manifest: Manifest,
): AsyncGenerator<string> {
  const all = createHash('sha256');
  for (const file of manifest.files) {
    let rows = 0;
    for await (const line of linesOf(await readPart(target, file), file)) {
      all.update(line).update('\n');
      rows += 1;
      yield line;
    }
    if (rows !== file.rows) {
      throw new ArchiveDamage(`${file.name} has ${rows} rows, and its manifest has ${file.rows}`);
    }
  }
  if (all.digest('hex') !== manifest.lines_sha256) {
    throw new ArchiveDamage('its lines differ from the hash of its manifest');
  }
}

async function readPart(target: ArchiveTarget, file: ManifestFile): Promise<Buffer> {
  const stored = await target.get(file.name);
  if (!stored) throw new ArchiveDamage(`${file.name} is missing`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stored) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > file.bytes) break;
  }
  const part = Buffer.concat(chunks);
  if (bytes !== file.bytes || hash('sha256', part, 'hex') !== file.sha256) {
    throw new ArchiveDamage(`${file.name} differs from the hash of its manifest`);
  }
  return part;
}

async function* linesOf(part: Buffer, file: ManifestFile): AsyncGenerator<string> {
  const gunzip = Readable.from([part], { objectMode: false }).pipe(createGunzip());
  // Bytes, because a character may be cut by the end of a chunk; a line end never is.
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of gunzip) {
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const end = bytes.lastIndexOf(0x0a);
      rest = bytes.subarray(end + 1);
      if (end < 0) continue;
      yield* bytes.subarray(0, end).toString('utf8').split('\n');
    }
  } catch (error) {
    if (error instanceof ArchiveDamage) throw error;
    throw new ArchiveDamage(`${file.name} cannot be decompressed: ${toError(error).message}`);
  }
  if (rest.length > 0) throw new ArchiveDamage(`${file.name} ends within a line`);
}

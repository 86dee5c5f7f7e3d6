/** The manifest of a batch, which is a JSON document. */
import { z } from 'zod';
import { isPartName } from './domain/batch.ts';

/** Readers refuse a format that they do not know. */
const FORMAT = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

const MANIFEST = z
  .object({
    format: z.literal(FORMAT),
    class: z.string().regex(/^[a-z_]{1,40}$/),
    first_key: z.string().regex(/^\d{1,19}$/),
    last_key: z.string().regex(/^\d{1,19}$/),
    rows: count,
    /** Of all lines with their line ends. */
    lines_bytes: count,
    lines_sha256: sha256,
    files: z
      .array(z.object({ name: z.string(), rows: count, bytes: count, lines_bytes: count, sha256 }))
      .min(1),
    tallyhook: z.string(),
    /** The merchant account of the ledger. */
    installation: z.string().nullable(),
    archived_at: z.string(),
  })
  .refine((manifest) => manifest.files.every(({ name }) => isPartName(name, manifest.class)), {
    message: 'names a file outside its class',
  })
  .refine(({ files, rows }) => files.reduce((sum, file) => sum + file.rows, 0) === rows, {
    message: 'the rows of its files are not its rows',
  });

export type Manifest = z.output<typeof MANIFEST>;
export type ManifestFile = Manifest['files'][number];

export function formatManifest(manifest: Omit<Manifest, 'format'>): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 2)}\n`);
}

/** @returns undefined for anything that is not a manifest of a known format */
export function parseManifest(bytes: Buffer): Manifest | undefined {
  try {
    return MANIFEST.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

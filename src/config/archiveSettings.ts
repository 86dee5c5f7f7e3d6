/**
 * Settings of the archive: where retention writes rows before it removes them.
 *
 * 1. Nothing is sent in clear text: the endpoint is https, except on this machine.
 * 2. An access key and its secret are set together or not at all.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isLoopback } from './alertSettings.ts';
import { text } from './values.ts';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*)?$/;

/** Where the archive is. */
type ArchivePlace =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

const place = z.string().transform((value, context): ArchivePlace => {
  const found = placeOf(value);
  if (found) return found;
  const message =
    'must be file:// and an absolute path, or s3://bucket/prefix, with letters, digits and ._- in the prefix';
  context.issues.push({ code: 'custom', message, input: value });
  return z.NEVER;
});

function placeOf(value: string): ArchivePlace | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || url.search !== '' || url.hash !== '') return undefined;
  if (url.protocol === 'file:' && url.hostname === '') {
    const folder = fileURLToPath(url);
    return folder === path.parse(folder).root ? undefined : { kind: 'folder', folder };
  }
  if (url.protocol !== 's3:' || url.username !== '' || url.port !== '') return undefined;
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '');
  if (!BUCKET.test(url.hostname) || !PREFIX.test(prefix)) return undefined;
  return { kind: 's3', bucket: url.hostname, prefix };
}

const endpoint = z.string().refine(
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || url.username !== '') return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
  },
  { message: 'must begin with https://; http:// is allowed only for this machine' },
);

export const ARCHIVE_SETTINGS = {
  ARCHIVE_URL: place.optional(),
  ARCHIVE_S3_ENDPOINT: endpoint.optional(),
  ARCHIVE_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region, such as eu-central-1')
    .default('us-east-1'),
  ARCHIVE_S3_ACCESS_KEY_ID: text().optional(),
  ARCHIVE_S3_SECRET_ACCESS_KEY: text().optional(),
} as const;

/** Settings for which an empty value is an error instead of "not set". */
export const ARCHIVE_SECRETS = ['ARCHIVE_S3_SECRET_ACCESS_KEY'] as const;

/** Settings that are set together (rule 2). */
export const ARCHIVE_GROUP = ['ARCHIVE_S3_ACCESS_KEY_ID', 'ARCHIVE_S3_SECRET_ACCESS_KEY'] as const;

export interface S3Settings {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Undefined: the endpoint of AWS for the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: those that the client finds by itself, such as the role of the instance. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
}

export type ArchiveSettings =
  | { readonly kind: 'folder'; readonly folder: string }
  | ({ readonly kind: 's3' } & S3Settings);

/** @returns undefined if nothing is archived */
export function archiveOf(
  settings: z.output<z.ZodObject<typeof ARCHIVE_SETTINGS>>,
): ArchiveSettings | undefined {
  const { ARCHIVE_URL: chosen } = settings;
  if (chosen === undefined || chosen.kind === 'folder') return chosen;
  const { ARCHIVE_S3_ACCESS_KEY_ID: accessKeyId, ARCHIVE_S3_SECRET_ACCESS_KEY: secretAccessKey } =
    settings;
  return {
    ...chosen,
    endpoint: settings.ARCHIVE_S3_ENDPOINT,
    region: settings.ARCHIVE_S3_REGION,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey },
  };
}

/**
 * An archive in a bucket of an S3-compatible store.
 *
 * 1. Each object is one PUT, which stores all of it or nothing, with its SHA-256, which the store
 *    compares with what arrived. Parts are small enough for that (writeBatch.ts).
 * 2. Credentials are those of the settings; without them the client looks in the usual places of AWS,
 *    such as the role of the instance.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { S3Settings } from '../config/archiveSettings.ts';
import type { ArchiveTarget } from './target.ts';

const MAX_ATTEMPTS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
/** Without a byte. */
const SOCKET_TIMEOUT_MS = 60_000;

export function createS3Target(settings: S3Settings): ArchiveTarget {
  const { bucket, prefix, endpoint, region, credentials } = settings;
  const client = new S3Client({
    region,
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    // Stores other than AWS know neither its newer checksums nor a host name for each bucket.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials !== undefined && { credentials }),
  });
  const start = prefix === '' ? '' : `${prefix}/`;
  return {
    description: `s3://${bucket}/${prefix}`,
    put: async (name, bytes) => {
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: `${start}${name}`,
          Body: bytes,
          ContentLength: bytes.length,
          ContentType: name.endsWith('.json') ? 'application/json' : 'application/gzip',
          ChecksumSHA256: createHash('sha256').update(bytes).digest('base64'),
        }),
      );
    },
    get: (name) => getObject(client, { Bucket: bucket, Key: `${start}${name}` }),
    list: (folder) =>
      listObjects(client, { bucket, start, below: folder === undefined ? '' : `${folder}/` }),
    probe: async () => {
      await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: start, MaxKeys: 1 }));
    },
    close: () => client.destroy(),
  };
}

async function getObject(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
): Promise<Readable | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand(object));
    if (!(Body instanceof Readable)) throw new Error(`${object.Key} came without a body`);
    return Body;
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

async function* listObjects(
  client: S3Client,
  place: { readonly bucket: string; readonly start: string; readonly below: string },
): AsyncGenerator<string> {
  const { bucket, start, below } = place;
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: `${start}${below}`,
        ContinuationToken: token,
      }),
    );
    for (const { Key } of page.Contents ?? []) {
      if (Key !== undefined) yield Key.slice(start.length);
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

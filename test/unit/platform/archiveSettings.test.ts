/** Settings of the archive: where it is, and that nothing is sent in clear text. */
import { expect, test } from 'vitest';
import { type Environment, loadConfig } from '../../../src/config/config.ts';

const archiveOf = (env: Environment) => loadConfig(env).archive;

test('without a URL, nothing is archived', () => {
  expect(archiveOf({})).toBeUndefined();
  expect(archiveOf({ ARCHIVE_URL: '' })).toBeUndefined();
});

test('a folder, with spaces and other characters as in any URL', () => {
  expect(archiveOf({ ARCHIVE_URL: 'file:///var/lib/my%20archive' })).toEqual({
    kind: 'folder',
    folder: '/var/lib/my archive',
  });
});

test('a bucket with and without a prefix, an endpoint and keys', () => {
  const bucket = { kind: 's3', bucket: 'my-archive', prefix: '', region: 'us-east-1' };
  expect(archiveOf({ ARCHIVE_URL: 's3://my-archive' })).toMatchObject(bucket);
  expect(archiveOf({ ARCHIVE_URL: 's3://my-archive/' })).toMatchObject(bucket);
  expect(
    archiveOf({
      ARCHIVE_URL: 's3://my-archive/shop/a/',
      ARCHIVE_S3_ENDPOINT: 'https://s3.example.com',
      ARCHIVE_S3_REGION: 'eu-central-1',
      ARCHIVE_S3_ACCESS_KEY_ID: 'id',
      ARCHIVE_S3_SECRET_ACCESS_KEY: 'secret',
    }),
  ).toEqual({
    kind: 's3',
    bucket: 'my-archive',
    prefix: 'shop/a',
    region: 'eu-central-1',
    endpoint: 'https://s3.example.com',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
});

test.each([
  'file://host/folder',
  'file:///',
  '/var/lib/archive',
  'https://s3.example.com/bucket',
  's3://Bucket',
  's3://bucket/a//b',
  's3://bucket/a?b=c',
  's3://key:secret@bucket/a',
])('%s is refused', (url) => {
  expect(() => archiveOf({ ARCHIVE_URL: url })).toThrow('ARCHIVE_URL: must be file://');
});

test('an endpoint is https, except on this machine', () => {
  const at = (endpoint: string) =>
    archiveOf({ ARCHIVE_URL: 's3://my-archive', ARCHIVE_S3_ENDPOINT: endpoint });
  expect(at('http://127.0.0.1:9000')).toMatchObject({ endpoint: 'http://127.0.0.1:9000' });
  expect(() => at('http://s3.example.com')).toThrow('must begin with https://');
});

test('a key and its secret are set together, and an empty secret is an error', () => {
  const env = { ARCHIVE_URL: 's3://my-archive' };
  expect(() => archiveOf({ ...env, ARCHIVE_S3_ACCESS_KEY_ID: 'id' })).toThrow(
    'ARCHIVE_S3_SECRET_ACCESS_KEY: must be set, too, because ARCHIVE_S3_ACCESS_KEY_ID is',
  );
  const empty = { ARCHIVE_S3_ACCESS_KEY_ID: 'id', ARCHIVE_S3_SECRET_ACCESS_KEY: '' };
  expect(() => archiveOf({ ...env, ...empty })).toThrow('ARCHIVE_S3_SECRET_ACCESS_KEY');
});

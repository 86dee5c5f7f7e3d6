/** A batch is the same in a folder and in an S3-compatible store, and damage to it is found. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importBatches } from '../../src/archive/importBatches.ts';
import { openArchiveTarget } from '../../src/archive/openTarget.ts';
import { recordBatch } from '../../src/archive/store/batches.ts';
import type { ArchiveTarget } from '../../src/archive/target.ts';
import { verifyArchive } from '../../src/archive/verifyArchive.ts';
import { type WriteParts, writeBatch } from '../../src/archive/writeBatch.ts';
import type { ArchiveSettings } from '../../src/config/archiveSettings.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { RowLine } from '../../src/platform/db/rowLine.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { S3_KEYS, S3_REGION, type S3Server, startS3Server } from '../support/s3Server.ts';

let db: TestDatabase;
let s3: S3Server;
let folder: string;
beforeAll(async () => {
  db = await createTestDatabase();
  s3 = await startS3Server('archive');
});
afterAll(async () => {
  await s3.close();
  await db.drop();
});
beforeEach(async () => {
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
  s3.objects.clear();
  s3.statuses.length = 0;
  await db.query('truncate archived_batches');
  return () => rmSync(folder, { recursive: true });
});

const s3Settings = (more: Partial<ArchiveSettings> = {}): ArchiveSettings =>
  ({
    kind: 's3',
    bucket: 'archive',
    prefix: 'shop/a',
    endpoint: s3.endpoint,
    region: S3_REGION,
    credentials: S3_KEYS,
    ...more,
  }) as ArchiveSettings;

/** Each kind of target, with a way to damage its objects. */
const KINDS = {
  folder: {
    settings: (): ArchiveSettings => ({ kind: 'folder', folder: join(folder, 'deep/er') }),
    names: () =>
      readdirSync(join(folder, 'deep/er'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(folder, 'deep/er', name)).isFile(),
      ),
    read: (name: string) => readFileSync(join(folder, 'deep/er', name)),
    write: (name: string, bytes: Buffer) => writeFileSync(join(folder, 'deep/er', name), bytes),
    remove: (name: string) => rmSync(join(folder, 'deep/er', name)),
  },
  s3: {
    settings: s3Settings,
    names: () => [...s3.objects.keys()].map((key) => key.replace('archive/shop/a/', '')),
    read: (name: string) => s3.objects.get(`archive/shop/a/${name}`) ?? Buffer.alloc(0),
    write: (name: string, bytes: Buffer) => {
      s3.objects.set(`archive/shop/a/${name}`, bytes);
    },
    remove: (name: string) => {
      s3.objects.delete(`archive/shop/a/${name}`);
    },
  },
};

const partsFor = (target: ArchiveTarget): WriteParts => ({
  target,
  clock: systemClock,
  installation: 'merchant_1',
  version: '0.1.0',
});

async function* rowsOf(
  keys: readonly number[],
  text = (key: number) => `é ${key}`,
): AsyncGenerator<RowLine> {
  for (const key of keys) {
    yield { key, line: JSON.stringify({ key: String(key), text: text(key) }) };
    await Promise.resolve();
  }
}

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const verify = (target: ArchiveTarget) => verifyArchive(db, target, { className: undefined });

async function importAll(target: ArchiveTarget, first: number, last: number) {
  const lines: string[] = [];
  await importBatches(
    target,
    { className: 'messages', first, last },
    {
      store: (rows) => {
        lines.push(...rows.map(({ line }) => line));
        return Promise.resolve(rows.length);
      },
    },
  );
  return lines;
}

describe.each(['folder', 's3'] as const)('%s', (kind) => {
  const at = KINDS[kind];

  test('what is written is read back, in parts of bounded size', async () => {
    const target = await openArchiveTarget(at.settings());
    const limits = { linesBytes: 4_000, compressedBytes: 1_000_000 };
    const keys = range(1, 1_000);
    const written = await writeBatch({ ...partsFor(target), limits }, 'messages', rowsOf(keys));
    expect(written).toMatchObject({ className: 'messages', rows: 1_000 });
    expect(written?.files).toBeGreaterThan(5);
    expect(at.names().filter((name) => name.endsWith('.jsonl.gz'))).toHaveLength(
      written?.files ?? Number.NaN,
    );
    expect(await importAll(target, 17, 800)).toEqual(
      range(17, 800).map((key) => JSON.stringify({ key: String(key), text: `é ${key}` })),
    );
    if (written) await recordBatch(db, written, 1_000);
    expect(await verify(target)).toMatchObject({
      batches: 1,
      rows: 1_000,
      bytes: written?.bytes,
      unrecorded: 0,
      problems: 0,
    });
    target.close();
  });

  test('rows are read back without reading the batches of other keys', async () => {
    const target = await openArchiveTarget(at.settings());
    for (const first of [1, 11, 21, 31]) {
      await writeBatch(partsFor(target), 'messages', rowsOf(range(first, first + 9)));
    }
    const read: string[] = [];
    const counted: ArchiveTarget = {
      ...target,
      get: (name) => {
        read.push(name);
        return target.get(name);
      },
    };
    expect(await importAll(counted, 20, 21)).toHaveLength(2);
    expect(
      read.filter((name) => name.endsWith('.manifest.json')).map((name) => name.split('.')[0]),
    ).toEqual(expect.arrayContaining(['messages/11-20', 'messages/21-30']));
    expect(read).toHaveLength(4);
    target.close();
  });

  test('the manifest names the range, the rows, the bytes and the hash of each file', async () => {
    const target = await openArchiveTarget(at.settings());
    const written = await writeBatch(partsFor(target), 'messages', rowsOf(range(5, 9)));
    const manifest = JSON.parse(at.read(written?.name ?? '').toString());
    const [file] = manifest.files;
    const bytes = at.read(file.name);
    const lines = gunzipSync(bytes);
    const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');
    expect(manifest).toEqual({
      format: 1,
      class: 'messages',
      first_key: '5',
      last_key: '9',
      rows: 5,
      lines_bytes: lines.length,
      lines_sha256: sha256(lines),
      tallyhook: '0.1.0',
      installation: 'merchant_1',
      archived_at: expect.stringMatching(/Z$/),
      files: [
        {
          name: `messages/${sha256(bytes)}.jsonl.gz`,
          rows: 5,
          bytes: bytes.length,
          lines_bytes: lines.length,
          sha256: sha256(bytes),
        },
      ],
    });
    target.close();
  });

  test('the same rows are archived under the same names, and the manifest stays as it is', async () => {
    const target = await openArchiveTarget(at.settings());
    const first = await writeBatch(partsFor(target), 'messages', rowsOf(range(1, 50)));
    const names = at.names().toSorted();
    const again = await writeBatch(partsFor(target), 'messages', rowsOf(range(1, 50)));
    expect(again).toEqual(first);
    expect(at.names().toSorted()).toEqual(names);
    const changed = rowsOf(range(1, 50), () => 'changed');
    const other = await writeBatch(partsFor(target), 'messages', changed);
    expect(other?.name).not.toBe(first?.name);
    expect(at.names()).toEqual(expect.arrayContaining(names));
    expect(await writeBatch(partsFor(target), 'messages', rowsOf([]))).toBeUndefined();
    target.close();
  });

  test('damage is found: a changed, missing or shortened file, and another manifest', async () => {
    const target = await openArchiveTarget(at.settings());
    const written = await writeBatch(partsFor(target), 'messages', rowsOf(range(1, 50)));
    if (written) await recordBatch(db, written, 50);
    const manifest = written?.name ?? '';
    const part = at.names().find((name) => name.endsWith('.gz')) ?? '';
    const damages: readonly (readonly [string, (bytes: Buffer) => Buffer | undefined, RegExp])[] = [
      [part, (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([1])]), /differs/],
      [part, (bytes) => bytes.subarray(0, 20), /differs/],
      [part, () => gzipSync('{"key":"1"}\n'), /differs/],
      [part, () => undefined, /is missing/],
      [manifest, () => undefined, /its manifest is missing/],
      [manifest, () => Buffer.from('{'), /cannot be read/],
      [manifest, (bytes) => Buffer.concat([bytes, Buffer.from(' ')]), /is not the one/],
    ];
    for (const [name, damage, expected] of damages) {
      const bytes = at.read(name);
      const damaged = damage(bytes);
      if (damaged === undefined) at.remove(name);
      else at.write(name, damaged);
      const { problems, examples } = await verify(target);
      expect({ problems, batch: examples[0]?.batch }).toEqual({ problems: 1, batch: manifest });
      expect(examples[0]?.problem).toMatch(expected);
      at.write(name, bytes);
    }
    expect(await verify(target)).toMatchObject({ batches: 1, problems: 0 });
    target.close();
  });

  test('a batch without a record in the ledger is counted, and checked, too', async () => {
    const target = await openArchiveTarget(at.settings());
    await writeBatch(partsFor(target), 'messages', rowsOf(range(1, 50)));
    expect(await verify(target)).toMatchObject({
      batches: 0,
      unrecorded: 1,
      rows: 50,
      problems: 0,
    });
    at.remove(at.names().find((name) => name.endsWith('.gz')) ?? '');
    expect(await verify(target)).toMatchObject({ unrecorded: 1, problems: 1 });
    target.close();
  });
});

describe('s3', () => {
  test('a list of several pages is complete', async () => {
    s3.pageLength = 2;
    const target = await openArchiveTarget(s3Settings());
    for (const key of range(1, 5)) await writeBatch(partsFor(target), 'messages', rowsOf([key]));
    expect(await importAll(target, 0, 10)).toHaveLength(5);
    s3.pageLength = 1000;
    target.close();
  });

  test('a request that the store refuses for a moment is repeated', async () => {
    const target = await openArchiveTarget(s3Settings());
    s3.failures.push(503, 500);
    await writeBatch(partsFor(target), 'messages', rowsOf([1]));
    expect(s3.statuses.filter((status) => status >= 500)).toHaveLength(2);
    expect(await importAll(target, 0, 10)).toHaveLength(1);
    target.close();
  });

  test('a wrong secret stores nothing', async () => {
    const credentials = { ...S3_KEYS, secretAccessKey: 'another' };
    const target = await openArchiveTarget(s3Settings({ credentials } as Partial<ArchiveSettings>));
    await expect(writeBatch(partsFor(target), 'messages', rowsOf([1]))).rejects.toThrow(
      'SignatureDoesNotMatch',
    );
    expect(s3.objects.size).toBe(0);
    target.close();
  });
});

/** Bodies of a day: all of them are archived before the day is removed, and come back to the inbox (docs/guides/archive.md). */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importArchiveAs } from '../../src/actions/importArchive.ts';
import { createFolderTarget } from '../../src/archive/folderTarget.ts';
import { readLines, readManifest } from '../../src/archive/readBatch.ts';
import { readLatestBatches } from '../../src/archive/store/batches.ts';
import { verifyArchive } from '../../src/archive/verifyArchive.ts';
import { importBodies as importBodyLines } from '../../src/ledger/bodies/archiveDay.ts';
import { findAbsences } from '../../src/ledger/bodies/readBodies.ts';
import { releaseKept } from '../../src/ledger/bodies/removeBodies.ts';
import { packDays, removeYesterday } from '../support/archivedDay.ts';
import { countPlaces, readPlaces, storeDay } from '../support/bodyDays.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { settingsFor } from '../support/program.ts';

let db: TestDatabase;
let folder: string;
beforeEach(async () => {
  db = await createTestDatabase();
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true });
});

const importBodies = (first: number, last: number) =>
  importArchiveAs(
    { db, target: createFolderTarget(folder) },
    { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@host' },
    { range: { className: 'bodies', first, last }, reason: 'replay' },
  );

async function archivedLines() {
  const target = createFolderTarget(folder);
  const lines = [];
  for (const { name } of await readLatestBatches(db, 'bodies', { after: undefined, limit: 10 })) {
    const { manifest } = await readManifest(target, name);
    for await (const line of readLines(target, manifest)) lines.push(JSON.parse(line));
  }
  return lines;
}

test('a removed day is in the archive, with late bodies and variants, byte for byte', async () => {
  const ids = await storeDay(db, { daysAgo: 1, events: 50 });
  await packDays(db, 3_600_000);
  const [late = 0] = await storeDay(db, { daysAgo: 1, events: 1 });
  await storeDay(db, { daysAgo: 0, events: 2 });
  await packDays(db);
  await db.query(
    `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
     select $1, convert_to(text, 'UTF8'), sha256(convert_to(text, 'UTF8')), now()
       from unnest('{one,two}'::text[]) as text`,
    [ids[7]],
  );
  const hashes = await db.query<{ id: number; sha256: string }>(
    `select id, encode(body_sha256, 'hex') as sha256 from webhook_events
      where id <= $1 order by id`,
    [late],
  );
  await removeYesterday(db, folder);

  const lines = await archivedLines();
  const sha256Of = ({ body }: { readonly body: string }) =>
    createHash('sha256').update(Buffer.from(body, 'base64')).digest('hex');
  const bodies = lines.filter((line) => line.variant_sha256 === undefined);
  expect(
    bodies
      .map((line) => ({ id: Number(line.key), sha256: sha256Of(line) }))
      .toSorted((a, b) => a.id - b.id),
  ).toEqual(hashes);
  const variants = lines.filter((line) => line.variant_sha256 !== undefined);
  expect(
    variants.map((line) => [Number(line.key), sha256Of(line) === line.variant_sha256]),
  ).toEqual([
    [ids[7], true],
    [ids[7], true],
  ]);
  const report = await verifyArchive(db, createFolderTarget(folder), { className: 'bodies' });
  expect(report).toMatchObject({ batches: 1, rows: 53, unrecorded: 0, problems: 0 });
});

test('imported bodies are in the inbox again for a week', async () => {
  const ids = await storeDay(db, { daysAgo: 1, events: 50 });
  await packDays(db);
  await removeYesterday(db, folder);
  expect(await countPlaces(db)).toEqual({ none: 50 });
  const [third = 0] = ids.slice(3);
  expect((await findAbsences(db, [third])).get(third)).toMatchObject({ outcome: 'removed' });

  expect(await importBodies(ids[3] ?? 0, ids[12] ?? 0)).toEqual({ read: 10, stored: 10 });
  expect(await importBodies(ids[3] ?? 0, ids[12] ?? 0)).toEqual({ read: 10, stored: 0 });
  expect(await countPlaces(db)).toEqual({ none: 40, kept: 10 });
  expect((await readPlaces(db)).filter(({ isEqual }) => !isEqual)).toEqual([]);
  expect(await findAbsences(db, [third])).toEqual(new Map());

  expect(await releaseKept(db, 100)).toBe(0);
  await db.query(`update kept_bodies set imported_at = imported_at - interval '8 days'`);
  expect(await releaseKept(db, 100)).toBe(10);
  expect(await countPlaces(db)).toEqual({ none: 50 });
});

test('a body does not come back if it was erased, differs, or its event is gone', async () => {
  const [erased = 0, other = 0, gone = 0, last = 0] = await storeDay(db, { daysAgo: 1, events: 4 });
  await packDays(db);
  await removeYesterday(db, folder);
  const [erasure] = await db.query<{ id: number }>(
    `insert into erasures (subjects, reason, requested_by) values ('{order:ord_1}', 'x', 'ada')
     returning id`,
  );
  await db.query(
    `insert into erased_bodies (webhook_event_id, erasure_id, erased_at) values ($1, $2, now())`,
    [erased, erasure?.id],
  );
  await db.query(`update webhook_events set body_sha256 = sha256('x') where id = $1`, [other]);
  await db.query('delete from webhook_events where id = $1', [gone]);
  expect(await importBodies(0, last)).toEqual({ read: 4, stored: 1 });
  const kept = (await readPlaces(db)).filter(({ places }) => places.includes('kept'));
  expect(kept.map(({ id }) => id)).toEqual([last]);
});

test('the command states why a body did not come back', async () => {
  const [gone = 0, kept = 0] = await storeDay(db, { daysAgo: 1, events: 2 });
  await packDays(db);
  await removeYesterday(db, folder);
  await db.query('delete from webhook_events where id = $1', [gone]);
  const env = settingsFor(db.url, { ARCHIVE_URL: pathToFileURL(folder).href });
  const imported = async (id: number) => {
    const keys = ['--first', String(id), '--last', String(id)];
    const args = ['archive', 'import', 'bodies', ...keys, '--reason', 'replay'];
    return (await runTallyhook(args, { env })).stdout;
  };
  expect(await imported(gone)).toMatch(
    /^1 row read, and 0 imported\. A body returns only if its event is in the inbox without it/,
  );
  expect(await imported(kept)).toBe('1 row read, and 1 imported.\n');
});

test('of two lines about one event, the body with the hash of the event comes back', async () => {
  const [id = 0] = await storeDay(db, { daysAgo: 1, events: 1 });
  await packDays(db);
  await removeYesterday(db, folder);
  const [archived = {}] = await archivedLines();
  const altered = { ...archived, body: Buffer.from('altered').toString('base64') };
  const rows = [altered, archived, archived].map((one) => ({ key: id, line: JSON.stringify(one) }));
  const stored = await db.transaction((tx) => importBodyLines(tx, rows, async () => new Set()));
  expect(stored).toBe(1);
  expect(await readPlaces(db)).toEqual([expect.objectContaining({ isEqual: true })]);
});

test('a further body that came after its day was archived stays until its event is archived', async () => {
  const [first = 0, second = 0] = await storeDay(db, { daysAgo: 1, events: 2 });
  const addVariant = (id: number, text: string) =>
    db.query(
      `insert into event_variants (webhook_event_id, body, body_sha256, received_at)
       values ($1, convert_to($2, 'UTF8'), sha256(convert_to($2, 'UTF8')), statement_timestamp())`,
      [id, text],
    );
  await addVariant(first, 'archived with the day');
  await packDays(db);
  await removeYesterday(db, folder);
  await addVariant(second, 'sent after it');
  await importBodies(first, second);
  await db.query(`update kept_bodies set imported_at = imported_at - interval '8 days'`);
  expect(await releaseKept(db, 100)).toBe(2);
  const left = await db.query<{ text: string }>(
    `select convert_from(body, 'UTF8') as text from event_variants where body is not null`,
  );
  expect(left).toEqual([{ text: 'sent after it' }]);
});

/**
 * A process that runs retention with an archive is killed at each point of its work. Nothing is gone without being
 * in a batch that passes `archive verify`, and what is in the archive is what was in the database.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFolderTarget } from '../../src/archive/folderTarget.ts';
import { readLines, readManifest } from '../../src/archive/readBatch.ts';
import { readBatchesAfter } from '../../src/archive/store/batches.ts';
import { writeTimesInUtc } from '../../src/archive/store/session.ts';
import { verifyArchive } from '../../src/archive/verifyArchive.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { readMessageLines } from '../../src/notify/store/archiveLines.ts';
import { readPlaces, storeDay } from '../support/bodyDays.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { KILLS } from '../support/kills.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
/** Within one day: the days that a test stores are counted back from today. */
const LONGEST_TEST_MS = 100_000;

let db: TestDatabase;
let folder: string;
let running: Program | undefined;
beforeEach(async () => {
  db = await createTestDatabase(LONGEST_TEST_MS);
  folder = mkdtempSync(join(memoryFolder(), 'tallyhook-archive-'));
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.exit;
  await db.drop();
  rmSync(folder, { recursive: true });
});

type ClassName = 'messages' | 'bodies';

/** The points at which test/support/archiveRemover.mjs kills itself. */
const POINTS = ['put', 'stored', 'remove', 'commit'] as const;
type Point = (typeof POINTS)[number];

function startRemover(className: ClassName, point: Point = 'put', number = 0): Program {
  const args = [db.url, folder, className, point, String(number)];
  running = spawnProgram('test/support/archiveRemover.mjs', args);
  return running;
}

/** The lines of batches that the ledger recorded, from files that were verified. */
async function readArchived(className: ClassName): Promise<readonly string[]> {
  const target = createFolderTarget(folder);
  expect(await verifyArchive(db, target, { className: undefined })).toMatchObject({ problems: 0 });
  const lines: string[] = [];
  for (const { name } of await readBatchesAfter(db, { className, after: '', limit: 10_000 })) {
    const { manifest } = await readManifest(target, name);
    for await (const line of readLines(target, manifest)) lines.push(line);
  }
  return lines;
}

interface Kills {
  readonly className: ClassName;
  /** The process is killed at one of so many objects, from its start. */
  readonly mostObjects: number;
  /** And at one of so many removals. */
  readonly mostRemovals: number;
  readonly expectNothingLost: () => Promise<void>;
}

async function killOften(kills: Kills): Promise<void> {
  const { className, mostObjects, mostRemovals, expectNothingLost } = kills;
  const random = seededRandom(SEED);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const point = POINTS[kill % POINTS.length] ?? 'put';
    const most = point === 'put' || point === 'stored' ? mostObjects : mostRemovals;
    const number = 1 + Math.floor(random() * most);
    const { signal, stderr } = await startRemover(className, point, number).exit;
    expect({ point, number, signal, stderr }).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    await waitFor('its transaction to end', async () => {
      const [row] = await db.query<{ open: number }>(
        `select count(*) as open from pg_stat_activity
          where datname = current_database() and application_name = 'archive-remover'`,
      );
      return row?.open === 0;
    });
    await expectNothingLost();
  }
}

test(`${KILLS} kills during archiving and removal lose no row (seed ${SEED})`, async () => {
  const count = 1_000 * KILLS;
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', jsonb_build_object('n', n, 'text', repeat('é', n % 50)),
            case when n % 10 = 0 then 'due' else 'delivered' end, now(), now(),
            case when n % 10 = 0 then null else now() - interval '31 days' end
       from generate_series(1, $1::int) as n`,
    [count],
  );
  const readMessages = async (): Promise<ReadonlyMap<number, string>> => {
    const numbers = await db.query<{ number: number }>('select number from messages');
    const rows = await db.transaction(async (tx) => {
      await writeTimesInUtc(tx);
      const keys = numbers.map(({ number }) => number);
      return await readMessageLines(tx, keys);
    });
    return new Map(rows.map(({ key, line }) => [key, line]));
  };
  const before = await readMessages();
  expect(before.size).toBe(count);
  const expectNothingLost = async (): Promise<void> => {
    const stored = await readMessages();
    const lines = await readArchived('messages');
    const archived = new Map(lines.map((line) => [Number(JSON.parse(line).key), line]));
    const lost = [...before.keys()].filter((key) => !stored.has(key) && !archived.has(key));
    expect(lost).toEqual([]);
    expect([...archived].filter(([key, line]) => before.get(key) !== line)).toEqual([]);
  };

  await killOften({ className: 'messages', mostObjects: 10, mostRemovals: 2, expectNothingLost });
  expect((await readMessages()).size, 'the kills came before the end').toBeGreaterThan(count / 10);

  expect(await startRemover('messages').exit).toMatchObject({ code: 0, stderr: '' });
  await expectNothingLost();
  expect((await readMessages()).size).toBe(count / 10);
  expect(await readArchived('messages')).toHaveLength((count / 10) * 9);
});

test(`${KILLS} kills during archiving and removal of days lose no body (seed ${SEED})`, async () => {
  const days = Math.ceil(2.5 * KILLS);
  const bodiesADay = 40;
  for (let day = 0; day < days; day += 1) {
    await storeDay(db, { daysAgo: days + 2 - day, events: bodiesADay });
  }
  const pack = createBodiesJob({
    db,
    log: silentLog,
    signal: new AbortController().signal,
    times: { budgetMs: 120_000, settleMs: 0, restMs: 0 },
  });
  await pack();
  await pack();
  const hashes = new Map(
    (
      await db.query<{ id: number; sha256: string }>(
        `select id, encode(body_sha256, 'hex') as sha256 from webhook_events`,
      )
    ).map(({ id, sha256 }) => [id, sha256]),
  );
  expect(hashes.size).toBe(days * bodiesADay);
  const countLeft = async () =>
    (await readPlaces(db)).filter(({ places }) => places.length > 0).length;
  expect(await countLeft()).toBe(hashes.size);
  const expectNothingLost = async (): Promise<void> => {
    const archived = new Map(
      (await readArchived('bodies')).map((line): [number, string] => {
        const { key, body } = JSON.parse(line) as { readonly key: string; readonly body: string };
        const bytes = Buffer.from(body, 'base64');
        return [Number(key), createHash('sha256').update(bytes).digest('hex')];
      }),
    );
    const places = await readPlaces(db);
    const lost = places.filter((one) => one.places.length === 0 && !archived.has(one.id));
    expect(lost).toEqual([]);
    expect([...archived].filter(([id, sha256]) => hashes.get(id) !== sha256)).toEqual([]);
  };

  // A day is a part and a manifest.
  await killOften({ className: 'bodies', mostObjects: 4, mostRemovals: 2, expectNothingLost });
  expect(await countLeft(), 'the kills came before the end').toBeGreaterThan(0);

  expect(await startRemover('bodies').exit).toMatchObject({ code: 0, stderr: '' });
  await expectNothingLost();
  expect(await countLeft()).toBe(0);
  expect(await readArchived('bodies')).toHaveLength(hashes.size);
});

/**
 * A process that runs retention with an archive is killed at random moments. No row is gone without being in
 * a batch that passes `archive verify`, and every row of the archive is what it was in the table.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderTarget } from '../../src/archive/folderTarget.ts';
import { readLines, readManifest } from '../../src/archive/readBatch.ts';
import { readBatchesAfter } from '../../src/archive/store/batches.ts';
import { writeTimesInUtc } from '../../src/archive/store/session.ts';
import { verifyArchive } from '../../src/archive/verifyArchive.ts';
import { readMessageLines } from '../../src/notify/store/archiveLines.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const KILLS = 20;
const MESSAGES = 20_000;
/** Of the lines that the process prints; its first step has about twenty. */
const MOST_LINES = 40;

let db: TestDatabase;
let folder: string;
const programs = new Set<Program>();
beforeAll(async () => {
  db = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-archive-'));
});
afterAll(async () => {
  for (const program of programs) {
    program.kill('SIGKILL');
    await program.exit;
  }
  await db.drop();
  rmSync(folder, { recursive: true });
});

function startRemover(): Program {
  const program = spawnProgram('test/support/archiveRemover.mjs', [db.url, folder]);
  programs.add(program);
  return program;
}

/** Every message as a line, by its number. */
async function readMessages(): Promise<ReadonlyMap<number, string>> {
  const numbers = await db.query<{ number: number }>('select number from messages');
  const rows = await db.transaction(async (tx) => {
    await writeTimesInUtc(tx);
    const keys = numbers.map(({ number }) => number);
    return readMessageLines(tx, keys);
  });
  return new Map(rows.map(({ key, line }) => [key, line]));
}

/** The rows of batches that the ledger recorded, from archived files that were verified. */
async function readArchived(): Promise<ReadonlyMap<number, string>> {
  const target = createFolderTarget(folder);
  expect(await verifyArchive(db, target, { className: undefined })).toMatchObject({ problems: 0 });
  const page = { className: 'messages', after: '', limit: MESSAGES };
  const archived = new Map<number, string>();
  for (const { name } of await readBatchesAfter(db, page)) {
    const { manifest } = await readManifest(target, name);
    for await (const line of readLines(target, manifest)) {
      archived.set(Number(JSON.parse(line).key), line);
    }
  }
  return archived;
}

async function expectNothingLost(before: ReadonlyMap<number, string>): Promise<void> {
  const stored = await readMessages();
  const archived = await readArchived();
  const lost = [...before.keys()].filter((key) => !stored.has(key) && !archived.has(key));
  expect(lost).toEqual([]);
  const changed = [...archived].filter(([key, line]) => before.get(key) !== line);
  expect(changed).toEqual([]);
}

test(`${KILLS} kills during archiving and removal lose no row (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', jsonb_build_object('n', n, 'text', repeat('é', n % 50)),
            case when n % 10 = 0 then 'due' else 'delivered' end, now(), now(),
            case when n % 10 = 0 then null else now() - interval '31 days' end
       from generate_series(1, $1::int) as n`,
    [MESSAGES],
  );
  const before = await readMessages();
  expect(before.size).toBe(MESSAGES);

  for (let kill = 0; kill < KILLS; kill += 1) {
    const program = startRemover();
    const lines = 1 + Math.floor(random() * MOST_LINES);
    await waitFor('the process to remove rows', () => {
      return program.stdout().split('\n').length > lines;
    });
    program.kill('SIGKILL');
    expect(await program.exit).toMatchObject({ signal: 'SIGKILL' });
    await waitFor('its transaction to end', async () => {
      const [row] = await db.query<{ open: number }>(
        `select count(*) as open from pg_stat_activity
          where datname = current_database() and application_name = 'archive-remover'`,
      );
      return row?.open === 0;
    });
    await expectNothingLost(before);
  }
  const left = await readMessages();
  expect(left.size, 'the kills came before the end').toBeGreaterThan(MESSAGES / 10);

  const last = startRemover();
  expect(await last.exit).toMatchObject({ code: 0, stderr: '' });
  await expectNothingLost(before);
  expect((await readMessages()).size).toBe(MESSAGES / 10);
  expect((await readArchived()).size).toBe((MESSAGES / 10) * 9);
});

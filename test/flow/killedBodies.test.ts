/**
 * kill -9 of a process that moves bodies, at random times: no body is lost or changed, and the next process
 * goes on. TEST_SEED repeats a run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { countPlaces, expectNoneLost, readPlaces, storeDay } from '../support/bodyDays.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KILLS } from '../support/kills.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
/** Within one day: the days that a test stores are counted back from today. */
const LONGEST_TEST_MS = 100_000;
/** How long a process goes on after its first step: several steps, so that a kill meets each part of one. */
const LONGEST_RUN_MS = 150;

let db: TestDatabase;
const programs = new Set<Program>();
beforeEach(async () => {
  db = await createTestDatabase(LONGEST_TEST_MS);
});
afterEach(async () => {
  for (const program of programs) {
    program.kill('SIGKILL');
    await program.exit;
  }
  programs.clear();
  await db.drop();
});

/** Grows with every step that is committed. */
async function readProgress(): Promise<number> {
  const [row] = await db.query<{ progress: number }>(
    `select (select copied from body_copy) + coalesce(sum(packed_through), 0)::bigint
            + count(*) filter (where state = 'removed') as progress
       from body_days`,
  );
  return row?.progress ?? 0;
}

async function startMoving(keptDays: number): Promise<Program> {
  const program = spawnProgram('test/support/moveBodies.mjs', [db.url, String(keptDays)]);
  programs.add(program);
  await waitFor('the process to begin', () => program.stdout().includes('ready'));
  return program;
}

/** Kills a process that moves bodies again and again, then lets one finish. @returns kills in the middle */
async function killWhileMoving(keptDays: number, seed: number): Promise<number> {
  const random = seededRandom(seed);
  let interrupted = 0;
  for (let kills = 0; kills < KILLS; kills++) {
    const before = await readProgress();
    const program = await startMoving(keptDays);
    await waitFor('a step', async () => (await readProgress()) > before);
    await pause(random() * LONGEST_RUN_MS);
    if (!program.stdout().includes('done')) interrupted += 1;
    program.kill('SIGKILL');
    await program.exit;
    programs.delete(program);
    await expectNoneLost(db);
  }
  const last = await startMoving(keptDays);
  expect(await last.exit).toMatchObject({ code: 0 });
  await expectNoneLost(db);
  return interrupted;
}

test(`${KILLS} kills during packing and removal lose no body (seed ${SEED})`, async () => {
  const removed: number[] = [];
  for (let daysAgo = 40; daysAgo >= 1; daysAgo--) {
    const ids = await storeDay(db, { daysAgo, events: 300 });
    if (daysAgo > 4) removed.push(...ids);
  }
  await storeDay(db, { daysAgo: 0, events: 10 });
  // Nothing is to be copied, so every kill comes while bodies are packed or removed.
  await db.query('update body_copy set copied_through = 12000, copied_until = now()');
  const dead = removed.filter((_, index) => index % 97 === 0);
  await db.query(
    `insert into dead_events (webhook_event_id, attempts, error)
     select id, 20, 'e' from unnest($1::bigint[]) as id`,
    [dead],
  );

  expect(await killWhileMoving(4, SEED)).toBe(KILLS);

  const places = await readPlaces(db);
  expect(places.filter(({ places }) => places[0] === 'kept').map(({ id }) => id)).toEqual(dead);
  expect(await countPlaces(db)).toEqual({
    packed: 1_200,
    open: 10,
    kept: dead.length,
    none: removed.length - dead.length,
  });
});

test(`${KILLS} kills during the copy lose no body (seed ${SEED})`, async () => {
  for (let daysAgo = 8; daysAgo >= 1; daysAgo--) {
    await storeDay(db, { daysAgo, events: 1_000, isLegacy: true });
  }
  await storeDay(db, { daysAgo: 0, events: 10 });

  expect(await killWhileMoving(30, SEED + 1)).toBe(KILLS);

  expect(await countPlaces(db)).toEqual({ packed: 8_000, open: 10 });
});

/**
 * kill -9 of `tallyhook erase` at random moments: the same command continues the request, and at the end
 * nothing of the people is left and the ledger is the same. TEST_SEED repeats a run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { createPeople, findWords } from '../support/people.ts';
import { type Program, settingsFor, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const KILLS = 6;

let db: TestDatabase;
const programs = new Set<Program>();
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const program of programs) {
    program.kill('SIGKILL');
    await program.exit;
  }
  await db.drop();
});

/** How far the request is: a number that grows with each committed step. */
async function progress(): Promise<number> {
  const [row] = await db.query<{ steps: number }>(
    `select (select count(*) from erased_bodies) + coalesce((select sum(texts) + 1 from erasures), 0) as steps`,
  );
  return row?.steps ?? 0;
}

const ledgerRows = () =>
  db.query(
    `select kind, id, status, amount_minor, captured_minor, encode(head_hash, 'hex') as head,
            (select count(*) from transfers t where t.kind = r.kind and t.resource_id = r.id) as transfers
       from resources r order by kind, id`,
  );

test(`${KILLS} kills of an erasure lose nothing and leave nothing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const { people, bodies } = createPeople(300, random);
  const applier = testApplier(db);
  for (let start = 0; start < bodies.length; start += 50) {
    await applier.applyBatch(await receive(db, bodies.slice(start, start + 50)));
  }
  const erased = people.filter((_, number) => number % 2 === 0);
  const before = await ledgerRows();
  const erase = () => {
    const args = ['erase', '--customers-from', '-', '--reason', 'a request', '--yes', '--json'];
    const program = spawnProgram('bin/tallyhook.js', args, {
      env: settingsFor(db.url),
      input: erased.map(({ customerId }) => customerId).join('\n'),
    });
    programs.add(program);
    return program;
  };

  // The steps of the request, texts first and bodies last, are about this many.
  const total = erased.length * 6;
  let killed = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const program = erase();
    const isEnded = { value: false };
    void program.exit.then(() => {
      isEnded.value = true;
    });
    const from = await progress();
    const until = Math.max(from + 1, Math.floor((total * (kill + random())) / KILLS));
    await waitFor('progress', async () => isEnded.value || (await progress()) >= until);
    await pause(random() * 30);
    killed += isEnded.value ? 0 : 1;
    program.kill('SIGKILL');
    await program.exit;
    programs.delete(program);
  }
  expect(killed).toBeGreaterThan(0);

  const { code, stdout, stderr } = await erase().exit;
  // A request that was done before the last kill is known; there is nothing left of its customers.
  if (code !== 0) expect(stderr).toContain('Nothing is known');
  else expect(JSON.parse(stdout)).toMatchObject({ outcome: 'erased', proof: { places: [] } });
  const requests = await db.query<{ state: string }>('select state from erasures');
  expect(requests.map(({ state }) => state)).toEqual(['done']);
  const words = new Set(erased.flatMap((person) => person.words));
  expect([...(await findWords(db, words))]).toEqual([]);
  expect(await ledgerRows()).toEqual(before);
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
});

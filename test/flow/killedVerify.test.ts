/**
 * kill -9 of `tallyhook verify`, at random times on each of N days: it goes on where it was, everything is
 * proven within N days, and damage is found. TEST_SEED repeats a run.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Proof, readProof } from '../../src/ledger/store/verifyRounds.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { shopEvents } from '../support/shop.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const DAYS = 4;
const ORDERS = 60;

let db: TestDatabase;
let running: Program | undefined;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.exit;
  await db.drop();
});

function start(): Program {
  running = spawnProgram('test/support/proveLedger.mjs', [db.url, MERCHANT_ID, String(DAYS)]);
  return running;
}

async function proveToEnd(): Promise<void> {
  const exit = await start().exit;
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  // The server ends the session of a process that was killed, which held the lock, some time later.
  expect(exit.stdout).toMatch(/proven\n$/);
}

/** Kills a run after some of its ranges. @returns whether it was in the middle */
async function killWhileProving(ranges: number): Promise<boolean> {
  const program = start();
  const isOver = () => program.stdout().includes('proven');
  await waitFor(
    'some ranges',
    () => isOver() || program.stdout().split('ranges').length - 1 >= ranges,
  );
  program.kill('SIGKILL');
  await program.exit;
  await waitFor('the end of its sessions', async () => {
    const [row] = await db.query<{ sessions: number }>(
      `select count(*) as sessions from pg_stat_activity where application_name = 'prove-ledger'
          and datname = current_database()`,
    );
    return row?.sessions === 0;
  });
  return !isOver();
}

/** Moves the begin of the open round into the past, as a day that goes by does. */
async function passDay(): Promise<void> {
  await db.query(
    `update verify_rounds set started_at = started_at - interval '1 day' where finished_at is null`,
  );
}

/** Changes the status of an order where no trigger notices it, which only the owner can do. */
async function damageOrder(): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('alter table orders disable trigger all');
    await tx.query(
      `update orders set status = 'nonsense'
        where order_key = (select order_key from orders order by md5(order_key || $1) limit 1)`,
      [String(SEED)],
    );
    await tx.query('alter table orders enable trigger all');
  });
}

async function openRound(): Promise<Pick<Proof, 'ranges' | 'checked' | 'due'>> {
  const { ranges, checked, due } = await readProof(db);
  return { ranges, checked, due };
}

test(`a run of verify that is killed again and again goes on, and all is proven in ${DAYS} days (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const ids = await receive(db, shopEvents({ seed: SEED, orders: ORDERS }));
  for (let first = 0; first < ids.length; first += 50) {
    await testApplier(db).applyBatch(ids.slice(first, first + 50));
  }
  await db.query('analyze');
  // The first run proves everything; the first rotation begins with the next one.
  await proveToEnd();
  await damageOrder();
  let interrupted = 0;
  for (let day = 0; day < DAYS; day++) {
    if (day > 0) await passDay();
    for (let kills = 0; kills < 2; kills++) {
      const before = await openRound();
      if (await killWhileProving(1 + Math.floor(random() * 4))) interrupted += 1;
      const after = await openRound();
      expect(after.ranges, 'the same round').toBe(day + kills === 0 ? after.ranges : before.ranges);
      expect(after.checked, 'nothing is forgotten').toBeGreaterThanOrEqual(before.checked);
    }
    await proveToEnd();
    const { ranges, checked, due } = await openRound();
    expect(due, 'a run that ends leaves nothing of its share').toBe(0);
    // The round that is finished is no longer open.
    if (day < DAYS - 1) expect(checked).toBe(Math.ceil((ranges * (day + 1)) / DAYS));
  }
  expect(interrupted, 'kills met runs in the middle').toBeGreaterThanOrEqual(DAYS);
  expect(await readProof(db)).toMatchObject({ ranges: 0, failedRanges: 1 });
});

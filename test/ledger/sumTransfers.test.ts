/**
 * The steps that store sums of the journal: what statements and balances read while an installation that was
 * filled before gets its sums, two steps at once, what `verify` finds, and a clock that goes back.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { readSummedTo } from '../../src/ledger/read/store/statementSums.ts';
import { createSumsJob, sumNext } from '../../src/ledger/sumTransfers.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { testSeed } from '../support/random.ts';
import { shopEvents } from '../support/shop.ts';
import { recordLongAgo, sumAll } from '../support/sums.ts';

const seed = testSeed();
const seeded = `TEST_SEED=${seed}`;
const MONTHS = ['2026-10', '2026-11'];
const TIMES = ['2026-11-01T12:00:00Z', '2026-11-02T09:07:03Z', '2026-12-01T00:00:00Z'];

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  const ids = await receive(db, shopEvents({ seed, orders: 15 }));
  await testApplier(db).applyBatch(ids);
  await recordLongAgo(db, 60);
});
afterEach(() => db.drop());

/** What people read by effective time. */
async function readAll() {
  const statements = [];
  for (const month of MONTHS) {
    for (const timeZone of ['Europe/Berlin', 'Asia/Kathmandu']) {
      for (const currency of [undefined, 'EUR']) {
        const { knownMicros: _, ...rest } = await readStatement(db, { month, timeZone, currency });
        statements.push(rest);
      }
    }
  }
  const reader = createBalanceReader(db);
  const balances = [];
  for (const time of TIMES) {
    balances.push(await reader.read({ effectiveMicros: Date.parse(time) * 1_000 }));
  }
  return { statements, balances };
}

async function sumsProblems(): Promise<readonly string[]> {
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
  return checks.flatMap(({ offenders }) =>
    offenders.map(({ subject, problem }) => `${subject}: ${problem}`),
  );
}

async function sumsChecked(): Promise<number> {
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
  return checks.find(({ name }) => name === 'sums')?.checked ?? 0;
}

/** Takes the schema back to the version before sums, and upgrades it. */
async function upgrade(): Promise<void> {
  await db.query('drop table transfer_sums_state, transfer_sums, transfer_day_sums, open_spans');
  await db.query('drop function recorded_part');
  const migration = join(packageRoot(), 'migrations/00061_transfer-sums.sql');
  await db.query(readFileSync(migration, 'utf8'));
}

test(`an installation that was filled before its upgrade reads the journal until the sums reach today, ${seeded}`, async () => {
  const expected = await readAll();
  await upgrade();
  expect(expected.balances.at(-1)?.length).toBeGreaterThan(3);
  let steps = 0;
  let isSummed = false;
  while (await sumNext(db, 25)) {
    steps += 1;
    isSummed = (await readSummedTo(db)) !== undefined;
    if (steps === 1) expect(isSummed).toBe(false);
    if (steps % 5 === 0 || isSummed)
      expect(await readAll(), `${seeded}, step ${steps}`).toEqual(expected);
  }
  expect(steps).toBeGreaterThan(3);
  expect(isSummed).toBe(true);
  expect(await readAll(), seeded).toEqual(expected);
  expect(await sumsProblems()).toEqual([]);
  expect(await sumsChecked()).toBeGreaterThan(50);
  // The sums are what is read: one that is wrong is seen.
  await db.query('update transfer_sums set ups = ups + 1');
  await db.query('update transfer_day_sums set posted_up_minor = posted_up_minor + 1');
  const { statements, balances } = await readAll();
  expect(statements).not.toEqual(expected.statements);
  expect(balances).not.toEqual(expected.balances);
});

test(`two steps at once add each transfer once, ${seeded}`, async () => {
  const drain = async () => {
    let isMore = true;
    while (isMore) isMore = await sumNext(db, 10);
  };
  await Promise.all([drain(), drain(), drain()]);
  expect(await sumsProblems(), seeded).toEqual([]);
  expect(await sumsChecked()).toBeGreaterThan(50);
});

const OPEN = `select item, resource_id from open_spans order by item, resource_id, span limit 1`;

const DAMAGE: readonly (readonly [string, string, RegExp])[] = [
  [
    'a changed sum',
    `update transfer_sums set up_minor = up_minor + 1 where (quarter, currency, leg, recorded_from) = (select quarter, currency, leg, recorded_from from transfer_sums order by 1, 2, 3, 4 limit 1)`,
    /^sums:...:\w+:.*Z: up_minor is /,
  ],
  [
    'a missing sum',
    `delete from transfer_sums where (quarter, currency, leg, recorded_from) = (select quarter, currency, leg, recorded_from from transfer_sums where ups > 0 order by 1, 2, 3, 4 limit 1)`,
    /^sums:...:\w+:.*Z: .*ups is 0, not /,
  ],
  [
    'a sum of what the journal does not have',
    `insert into transfer_sums values ('2026-11-05 10:15Z', 'USD', 'captured', '2026-11-05', 1, 0, 5, 0, 5, 0)`,
    /^sums:USD:captured:2026-11-05T10:15Z: /,
  ],
  [
    'a changed sum of a day',
    `update transfer_day_sums set posted_up_minor = posted_up_minor + 1 where (day, currency, leg) = (select day, currency, leg from transfer_day_sums order by 1, 2, 3 limit 1)`,
    /^sums:...:\w+:\d{4}-\d\d-\d\d: posted_up_minor is /,
  ],
  [
    'a missing sum of a day',
    `delete from transfer_day_sums where (day, currency, leg) = (select day, currency, leg from transfer_day_sums where posted_up_minor > 0 order by 1, 2, 3 limit 1)`,
    /^sums:...:\w+:\d{4}-\d\d-\d\d: posted_up_minor is 0, not /,
  ],
  [
    'a changed open span',
    `update open_spans set open_minor = open_minor + 1 where (item, resource_id) = (${OPEN})`,
    /: open_minor is /,
  ],
  [
    'a missing open span',
    `delete from open_spans where (item, resource_id) = (${OPEN})`,
    /^\w+:\w+ ... from .*: since is empty, .*open_minor is empty, not /,
  ],
  [
    'an open span of what the journal does not have',
    `insert into open_spans values ('hold', 'USD', 'pay_stray', '(2026-11-01,infinity]', '2026-11-01', 7)`,
    /^hold:pay_stray USD from 2026-11-01 .*open_minor is 7, not empty/,
  ],
];

test('verify names each damage, and the sums begin again', async () => {
  const expected = await readAll();
  await sumAll(db);
  expect(await sumsProblems()).toEqual([]);
  for (const [name, damage, problem] of DAMAGE) {
    const rows = await db.query(`${damage} returning 1`);
    expect(rows.length, name).toBeGreaterThan(0);
    const problems = await sumsProblems();
    expect(problems.length, `${name}: ${problems.join('\n')}`).toBeGreaterThan(0);
    expect(problems.join('\n'), name).toMatch(problem);
    // What is damaged is read no more, at once.
    expect(await readAll(), `${name}, ${seeded}`).toEqual(expected);
    await createSumsJob({ db, signal: new AbortController().signal })();
    expect(await sumsProblems(), name).toEqual([]);
    expect(await readSummedTo(db), name).toBeDefined();
    expect(await readAll(), `${name}, ${seeded}`).toEqual(expected);
  }
});

test('sums that are ahead of a clock that went back are not read, and begin again', async () => {
  const expected = await readAll();
  await sumAll(db);
  await db.query(`update transfer_sums_state set summed_to = now() + interval '10 minutes'`);
  expect(await readSummedTo(db)).toBeUndefined();
  expect(await readAll(), seeded).toEqual(expected);
  await sumAll(db);
  expect(await readSummedTo(db)).toBeDefined();
  expect(await sumsProblems()).toEqual([]);
  expect(await readAll(), seeded).toEqual(expected);
});

/**
 * Seals of closings. What they prevent: whoever can change the database, with triggers disabled, edits who
 * closed a month, what was unproven or a sum of it. Rules are those of src/ledger/domain/seals.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainKeyOf } from '../../src/ledger/chain/chainKey.ts';
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import type { Closing } from '../../src/ledger/domain/closings.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { readClosings } from '../../src/ledger/read/store/closings.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import { verifyChain } from '../../src/ledger/verify/verifyChain.ts';
import { statementJson } from '../../src/representation/statement.ts';
import { statementText } from '../../src/representation/statementTables.ts';
import { closePeriod, reopenPeriod } from '../../src/statements/closePeriod.ts';
import { readStatement } from '../../src/statements/readStatement.ts';
import { CHAIN_KEY, chainJournal } from '../support/chain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { createRandomJournal, insertRandom } from '../support/randomJournal.ts';
import { changed, columnsOf, dropChecksOf, tamperWith } from '../support/tamper.ts';

const SEED = testSeed();
const random = seededRandom(SEED);
const KEY = chainKeyOf(CHAIN_KEY);
const effectiveMs = () => Date.UTC(2024, 2, 10);
const transfer = createRandomJournal({ random, effectiveMs });
/** Of other legs: a transfer that is rolled back must not be one that a later one continues. */
const lost = createRandomJournal({ random, effectiveMs, prefix: 'lost_' });

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await post(20);
});
afterAll(() => db.drop());

const post = (transfers: number) =>
  insertRandom(
    db,
    Array.from({ length: transfers }, () => transfer(Date.now())),
  );

/** One run of the schedule, up to its fence. */
const publish = async (limit?: number) =>
  appendNext(db, { throughId: await fenceJournal(db), key: KEY, ...(limit && { limit }) });

async function close(month: string): Promise<Closing> {
  const done = await db.transaction((tx) =>
    closePeriod(tx, {
      month,
      timeZone: 'UTC',
      by: 'ada',
      reason: 'the year ends',
      withExceptions: true,
    }),
  );
  if (done.outcome !== 'closed') throw new Error(JSON.stringify(done));
  return done.closing;
}

const statementOf = (month: string) =>
  readStatement(db, { month, timeZone: 'UTC', currency: undefined });

const sealOf = async ({ id }: Closing) =>
  (await readClosings(db)).find((one) => one.id === id)?.seal ?? undefined;

async function offenders(): Promise<readonly string[]> {
  const { check } = await verifyChain(db, {
    merchantId: MERCHANT_ID,
    publicKey: KEY.publicKey,
    head: undefined,
    openCheckers: () => [(task) => checkRange(db, task)],
  });
  return check.offenders.map(({ subject, problem }) => `${subject}: ${problem}`);
}

test('a closing waits for no block, and is sealed with the first one that has its last transfer', async () => {
  // The last number before the closing is that of a transfer that was rolled back.
  await db
    .transaction(async (tx) => {
      await insertRandom(tx, [lost(Date.now())]);
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  const march = await close('2024-03');
  expect(march.seal).toBeNull();
  expect(statementText(await statementOf('2024-03')).facts).toContain(
    'Not sealed yet: the scheduler seals a closing within minutes.',
  );
  await publish(5);
  expect(await sealOf(march)).toBeUndefined();
  const head = await chainJournal(db);
  expect(head.throughId).toBeLessThan(march.lastTransfer);
  expect(await sealOf(march)).toMatchObject({
    blockNumber: head.number,
    blockDigest: head.digest,
    signature: expect.stringMatching(/^[0-9a-f]{128}$/),
  });
  const statement = await statementOf('2024-03');
  const { facts } = statementText(statement);
  expect(facts).toContain(`Sealed with the chain head ${head.number}:${head.digest}`);
  expect(statementJson(statement).closing?.seal).toMatchObject({
    chain_head: `${head.number}:${head.digest}`,
  });
  // Nothing was posted since, so no block follows: the next closing has the same one.
  const april = await close('2024-04');
  expect(await publish()).toBeUndefined();
  expect(await sealOf(april)).toMatchObject({ blockNumber: head.number });
  expect(await offenders()).toEqual([]);
});

test(`any change of a closing, of its sums or of its seal is found, TEST_SEED=${SEED}`, async () => {
  const reopening = ['reopened_at', 'reopened_by', 'reopened_reason'];
  const tables = {
    period_closings: ['id', ...reopening],
    closing_days: ['closing_id'],
    closing_balances: ['closing_id'],
    closing_seals: ['closing_id', 'sealed_at'],
  };
  let changes = 0;
  for (const [table, others] of Object.entries(tables)) {
    await dropChecksOf(db, table);
    const columns = await columnsOf(db, table);
    for (const column of columns.filter(({ name }) => !others.includes(name))) {
      const key = table === 'period_closings' ? 'id' : 'closing_id';
      const { name } = column;
      const to = name === 'previous_id' ? '2' : changed(column, random);
      await tamperWith(db, `create table kept as select * from ${table}`);
      await tamperWith(db, `update ${table} set ${name} = ${to} where ${key} = 1`);
      const found = await offenders();
      expect(
        found.map((one) => one.split(': ')[0]),
        `${table}.${name}`,
      ).toEqual([expect.stringMatching(/^closing:/)]);
      await tamperWith(db, `delete from ${table}`);
      const overriding = table === 'period_closings' ? 'overriding system value' : '';
      await tamperWith(db, `insert into ${table} ${overriding} select * from kept`);
      await tamperWith(db, 'drop table kept');
      changes += 1;
    }
  }
  expect(changes).toBeGreaterThan(25);
  expect(await offenders()).toEqual([]);
});

test('a closing that is sealed again without the key is found', async () => {
  await tamperWith(db, 'create table kept as select * from closing_seals');
  await tamperWith(db, 'create table kept_blocks as select * from chain_blocks');
  await tamperWith(db, `update period_closings set closed_by = 'eve' where id = 1`);
  await tamperWith(db, 'delete from closing_seals');
  await tamperWith(db, 'delete from chain_blocks');
  await chainJournal(db, { key: chainKeyOf('a-key-that-is-not-that-of-the-chain-0123') });
  expect(await offenders()).toEqual([expect.stringContaining('the key of this installation')]);
  // With the blocks of before, the forged seals have none.
  await tamperWith(db, 'delete from chain_blocks');
  await tamperWith(db, 'insert into chain_blocks select * from kept_blocks');
  expect(await offenders()).toEqual([
    expect.stringMatching(/^closing:2024-03:1: .* which the chain does not have$/),
    expect.stringMatching(/^closing:2024-04:1: .* which the chain does not have$/),
  ]);
  await tamperWith(
    db,
    `update closing_seals s set block_number = b.number, block_digest = b.digest
       from chain_blocks b where b.number = (select max(number) from chain_blocks)`,
  );
  expect(await offenders()).toHaveLength(2);
  await tamperWith(db, 'delete from closing_seals');
  await tamperWith(db, 'insert into closing_seals select * from kept');
  await tamperWith(db, `update period_closings set closed_by = 'ada' where id = 1`);
  await tamperWith(db, 'drop table kept, kept_blocks');
  expect(await offenders()).toEqual([]);
});

test('reopening a month leaves its seal, and closing it again makes another', async () => {
  await post(3);
  await db.transaction((tx) => reopenPeriod(tx, { month: '2024-04', by: 'ada', reason: 'late' }));
  const again = await close('2024-04');
  const head = await chainJournal(db);
  expect(await offenders()).toEqual([]);
  const seals = (await readClosings(db)).map(({ month, version, seal }) => [
    month,
    version,
    seal?.blockNumber,
  ]);
  expect(seals).toEqual([
    ['2024-03', 1, head.number - 1],
    ['2024-04', 1, head.number - 1],
    ['2024-04', 2, head.number],
  ]);
  expect(again.version).toBe(2);
});

/**
 * The chain of the journal. What it prevents: whoever can change the database, with triggers disabled, edits,
 * removes or inserts a transfer, and what was published about the ledger is no longer what it shows.
 */
import { stdout } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { chainKeyOf } from '../../src/ledger/chain/chainKey.ts';
import { appendNext } from '../../src/ledger/chain/publishChain.ts';
import type { PublishedHead } from '../../src/ledger/domain/chain.ts';
import { fenceJournal } from '../../src/ledger/fenceJournal.ts';
import { readChainHead } from '../../src/ledger/store/chain.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import { proveLedger } from '../../src/ledger/verify/proveLedger.ts';
import { type ChainReport, verifyChain } from '../../src/ledger/verify/verifyChain.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { KILLS } from '../support/kills.ts';
import { type Program, spawnProgram } from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const KEY = chainKeyOf('a-secret-of-the-chain-0123456789abcdef');
const TWENTY = Array.from({ length: 20 }, (_, n) => n);
const SEED = testSeed();
/** Three blocks. */
const RESOURCES = 250;
const BLOCK = 100;
/** Ten ids follow that no transfer has, as after a rollback. */
const GAP_AFTER = RESOURCES;

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(120_000);
  await post(RESOURCES, 'pay_');
  await db.query(
    `select nextval(pg_get_serial_sequence('transfers', 'id')) from generate_series(1, 10)`,
  );
  await post(100, 'more_');
  await chainAll();
  await dropChecks();
});
afterAll(async () => {
  await db.drop();
});

/** Posts a capture for each new resource, in one transaction. */
function post(resources: number, tag: string): Promise<void> {
  return db.transaction((tx) => postIn(tx, resources, tag));
}

async function postIn(tx: Queryable, resources: number, tag: string): Promise<void> {
  await tx.query(
    `insert into resources (kind, id) select 'payment', $2 || n from generate_series(1, $1::int) n`,
    [resources, tag],
  );
  await tx.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                              previous_minor, cumulative_minor, head_hash, webhook_event_id, effective_at,
                              effective_source)
       select 'payment', $2 || n, 'captured', 'EUR', 1, 'psp.clearing', 'order.due', 100 + n, 0, 100 + n,
              sha256(n::text::bytea), n, now() - n * interval '1 second', 'v'
         from generate_series(1, $1::int) n`,
    [resources, tag],
  );
}

/** As the owner of the database would: no trigger sees it. */
async function tamper(statement: string, values: readonly unknown[] = []): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    await tx.query(statement, values);
  });
}

async function verify(
  head?: PublishedHead,
  publicKey: string | undefined = KEY.publicKey,
): Promise<ChainReport> {
  return await verifyChain(db, {
    merchantId: MERCHANT_ID,
    publicKey,
    head,
    openLanes: () => [(task) => checkRange(db, task), (task) => checkRange(db, task)],
  });
}

const firstOffender = ({ check }: ChainReport) => check.offenders[0]?.subject;

async function chainAll(key = KEY): Promise<void> {
  const throughId = await fenceJournal(db);
  while (await appendNext(db, { throughId, key, limit: BLOCK }));
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** An expression that changes one byte of the column, wherever it is not null. */
function changed({ name, type }: Column, random: () => number): string {
  const bit = 1 << Math.floor(random() * 6);
  switch (type) {
    case 'bigint':
    case 'integer':
      // A changed id must not meet another one.
      return name === 'id' ? `-${name}` : `${name} # ${bit}`;
    case 'text':
      return `overlay(${name} placing chr(ascii(substr(${name}, 2, 1)) # ${1 + Math.floor(random() * 3)}) from 2 for 1)`;
    case 'bytea':
      return `set_byte(${name}, 3, get_byte(${name}, 3) # ${bit})`;
    case 'timestamp with time zone':
      return `${name} + ${bit} * interval '1 microsecond'`;
    case '"char"':
      return `chr(ascii(${name}::text) # ${1 + Math.floor(random() * 3)})::"char"`;
    default:
      throw new Error(`the test cannot change a column of type ${type}`);
  }
}

/** Removes the checks of the table, which the owner can, so that any value can be written. */
async function dropChecks(): Promise<void> {
  await db.query('alter table transfers alter column id set generated by default');
  const checks = await db.query<{ conname: string }>(
    `select conname from pg_constraint where conrelid = 'transfers'::regclass and contype = 'c'`,
  );
  for (const { conname } of checks) {
    await db.query(`alter table transfers drop constraint ${conname}`);
  }
}

/** Runs a change as the owner, verifies, and takes the change back. */
async function verifyTampered(
  change: readonly string[],
  undo: readonly string[],
  head?: PublishedHead,
): Promise<ChainReport> {
  for (const statement of change) await tamper(statement);
  const report = await verify(head);
  for (const statement of undo) await tamper(statement);
  return report;
}

test('one byte of any column of a transfer, changed 100 times, is found and named each time', async () => {
  const columns = await db.query<Column>(
    `select column_name as name, data_type as type from information_schema.columns
      where table_name = 'transfers' and table_schema = 'public' order by ordinal_position`,
  );
  const random = seededRandom(SEED);
  let found = 0;
  for (let n = 0; n < 100; n += 1) {
    const column = columns[n % columns.length] as Column;
    const id = 1 + Math.floor(random() * RESOURCES);
    const expression = changed(column, random);
    const report = await verifyTampered(
      [
        `create table kept as select * from transfers where id = ${id}`,
        `update transfers set ${column.name} = ${expression} where id = ${id}`,
      ],
      [
        `delete from transfers where id in (${id}, ${-id})`,
        `insert into transfers overriding system value select * from kept`,
        'drop table kept',
      ],
    );
    const named = `transfer:${column.name === 'id' ? -id : id}`;
    if (firstOffender(report) === named) found += 1;
    else
      stdout.write(`seed ${SEED}: not ${column.name} of ${id}
`);
  }
  stdout.write(`seed ${SEED}: ${found} of 100 edited transfers were found and named\n`);
  expect(found).toBe(100);
  expect((await verify()).passed).toBe(true);
}, 300_000);

test('20 transfers that are removed, and 20 that are inserted, are found and named', async () => {
  const random = seededRandom(SEED + 1);
  for (const n of TWENTY) {
    const id = 1 + Math.floor(random() * RESOURCES);
    const removed = await verifyTampered(
      [
        `create table kept as select * from transfers where id = ${id}`,
        `delete from transfers where id = ${id}`,
      ],
      [`insert into transfers overriding system value select * from kept`, 'drop table kept'],
    );
    expect(firstOffender(removed), `seed ${SEED}`).toBe(`transfer:${id}`);
    expect(removed.check.offenders[0]?.problem).toContain('removed');
    // An id that was drawn and rolled back, or one before the first.
    const free = n % 2 === 0 ? -n : GAP_AFTER + 1 + (n % 5);
    const inserted = await verifyTampered(
      [
        `insert into transfers overriding system value
         select (jsonb_populate_record(t, jsonb_build_object('id', ${free}, 'leg_seq', 2))).*
           from transfers t where id = ${id}`,
      ],
      [`delete from transfers where id = ${free}`],
    );
    expect(firstOffender(inserted), `seed ${SEED}`).toBe(`transfer:${free}`);
    expect(inserted.check.offenders[0]?.problem).toContain('inserted');
  }
  expect((await verify()).passed).toBe(true);
}, 120_000);

test('a block that is edited, removed or exchanged with another one is found', async () => {
  const undo = [
    'delete from chain_blocks',
    'insert into chain_blocks select * from kept',
    'drop table kept',
  ];
  const keep = 'create table kept as select * from chain_blocks';
  const columns = await db.query<Column>(
    `select column_name as name, data_type as type from information_schema.columns
      where table_name = 'chain_blocks' and table_schema = 'public' order by ordinal_position`,
  );
  await db.query(`alter table chain_blocks drop constraint chain_blocks_check1`);
  const random = seededRandom(SEED + 2);
  for (const column of columns.filter(({ name }) => name !== 'number')) {
    const report = await verifyTampered(
      [
        keep,
        `update chain_blocks set ${column.name} = ${changed(column, random)} where number = 2`,
      ],
      undo,
    );
    expect(firstOffender(report), column.name).toBe('block:2');
  }
  const removed = await verifyTampered([keep, 'delete from chain_blocks where number = 2'], undo);
  expect(removed.check.offenders[0]).toEqual({
    subject: 'block:3',
    problem: 'block 2 is missing before it',
  });
  const exchanged = await verifyTampered(
    [
      keep,
      'update chain_blocks set number = 99 where number = 1',
      'update chain_blocks set number = 1 where number = 2',
      'update chain_blocks set number = 2 where number = 99',
    ],
    undo,
  );
  expect(firstOffender(exchanged)).toBe('block:1');
  expect((await verify()).passed).toBe(true);
}, 120_000);

test('a chain that is made again is found by its key, and by a published head', async () => {
  const published = await readChainHead(db);
  if (!published) throw new Error('there is no chain');
  const head = { number: published.number, digest: published.digest, block: published };
  expect((await verify(head)).head).toMatchObject({ outcome: 'confirmed' });
  await tamper('create table kept as select * from chain_blocks');
  await tamper('create table kept_transfers as select * from transfers where id = 7');
  await tamper('update transfers set amount_minor = 1, cumulative_minor = 1 where id = 7');
  await tamper('delete from chain_blocks');
  const forged = chainKeyOf('a-key-that-is-not-that-of-the-chain-0123');
  await chainAll(forged);
  const withoutHead = await verify();
  expect(firstOffender(withoutHead)).toBe(`block:${published.number}`);
  expect(withoutHead.check.offenders[0]?.problem).toContain(forged.publicKey);
  // Whoever has the key as well can make a chain without a flaw. A published head shows it.
  await tamper('delete from chain_blocks');
  await chainAll();
  const withHead = await verify(head);
  expect(withHead.check.failures).toBe(0);
  expect(withHead).toMatchObject({ passed: false, head: { outcome: 'rewritten' } });
  // The same after a restore, which the server's timeline shows.
  await tamper(`update chain_blocks set history = 'another/2' where number = ${published.number}`);
  expect((await verify(head)).head).toMatchObject({ outcome: 'replaced_after_restore' });
  await tamper('delete from chain_blocks');
  expect((await verify(head)).head).toMatchObject({ outcome: 'ahead' });
  await tamper('insert into chain_blocks select * from kept');
  await tamper('delete from transfers where id = 7');
  await tamper('insert into transfers overriding system value select * from kept_transfers');
  await tamper('drop table kept, kept_transfers');
  expect((await verify(head)).passed).toBe(true);
}, 60_000);

test('verify names a transfer that was edited, and goes on doing so until it is as it was', async () => {
  const prove = () =>
    proveLedger(db, {
      ...{ merchantId: MERCHANT_ID, chainKey: KEY.publicKey, mode: 'incremental', fullDays: 30 },
      openLanes: () => [(task) => checkRange(db, task)],
    });
  const chained = async () => {
    const result = await prove();
    if (result.outcome === 'busy') throw new Error('another run is under way');
    return result.report.checks.find(({ name }) => name === 'chained');
  };
  // The resources of this file have no snapshots: only what changes from here on is of interest.
  await db.query(
    `insert into verify_position (change_number, event_id, block_number, planned_at)
     select 0, 0, max(number), now() from chain_blocks`,
  );
  expect(await chained()).toMatchObject({ failures: 0 });
  await post(3, 'night_');
  await chainAll();
  await tamper(
    `update transfers set amount_minor = amount_minor + 1 where resource_id = 'night_2'`,
  );
  expect(await chained()).toMatchObject({ failures: 1 });
  expect(await chained()).toMatchObject({ failures: 1 });
  await tamper(
    `update transfers set amount_minor = amount_minor - 1 where resource_id = 'night_2'`,
  );
  expect(await chained()).toMatchObject({ failures: 0 });
}, 60_000);

test('writers and publishers at once never fork the chain, and no transfer is left out', async () => {
  const random = seededRandom(SEED + 3);
  let isOver = false;
  const publish = async () => {
    while (!isOver) {
      await appendNext(db, { throughId: await fenceJournal(db), key: KEY, limit: 40 });
    }
  };
  const write = async (writer: number) => {
    for (let turn = 0; turn < 15; turn += 1) {
      await db
        .transaction(async (tx) => {
          const tag = `w${writer}_${turn}_`;
          await postIn(tx, 1 + Math.floor(random() * 5), tag);
          // A slow transaction commits smaller ids than a fast one that began later.
          await pause(random() < 0.3 ? random() * 40 : 0);
          if (random() < 0.2) throw new Error('rolled back');
        })
        .catch(() => undefined);
    }
  };
  const publishers = [publish(), publish(), publish()];
  await Promise.all([1, 2, 3, 4].map(write));
  isOver = true;
  await Promise.all(publishers);
  // What committed after the last fence of the publishers.
  await chainAll();
  const report = await verify();
  expect(report.check, `seed ${SEED}`).toMatchObject({ failures: 0 });
  const [count] = await db.query<{ transfers: number }>(
    'select count(*) as transfers from transfers',
  );
  expect(report.last?.totalTransfers).toBe(count?.transfers);
}, 120_000);

let running: Program | undefined;
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.exit;
});

test('kill -9 of the publisher at any moment leaves a chain that the next one continues', async () => {
  const random = seededRandom(SEED + 4);
  for (let kill = 0; kill < Math.min(KILLS, 4); kill += 1) {
    await post(1_000, `kill${kill}_`);
    running = spawnProgram('test/support/publishChain.mjs', [db.url]);
    const program = running;
    await waitFor('a block', () => program.stdout().includes('block'));
    await pause(random() * 60);
    program.kill('SIGKILL');
    await program.exit;
    expect((await verify(undefined, 'none')).check.offenders.slice(1), `seed ${SEED}`).toEqual([]);
  }
  await chainAll();
  const report = await verify();
  expect(report.check, `seed ${SEED}`).toMatchObject({ failures: 0 });
  expect(report.unchained.transfers).toBe(0);
}, 120_000);

test('a key that is changed signs what was chained before', async () => {
  const next = chainKeyOf('the-next-secret-of-the-chain-0123456789');
  const before = await readChainHead(db);
  expect(await appendNext(db, { throughId: await fenceJournal(db), key: next })).toMatchObject({
    number: (before?.number ?? 0) + 1,
    transfers: 0,
    publicKey: next.publicKey,
  });
  expect((await verify(undefined, next.publicKey)).passed).toBe(true);
  expect((await verify()).passed).toBe(false);
});

test('no role changes a block, and the database refuses one that does not continue the chain', async () => {
  await expect(db.query('update chain_blocks set transfers = 1')).rejects.toThrow(/append-only/);
  await expect(db.query('delete from chain_blocks')).rejects.toThrow(/append-only/);
  const again = `select append_chain_block(number, form, previous_digest, after_id, through_id, transfers,
      total_transfers, entries, history, chained_at, public_key, signature, digest)
    from chain_blocks where number = 1`;
  await expect(db.query(again)).rejects.toThrow(/does not continue the chain/);
});

test('every column of a transfer is covered by the newest form', async () => {
  const [row] = await db.query<{ uncovered: number }>(
    `select count(*) as uncovered from transfers t, chain_blocks b
      where b.number = 1 and t.id = 1
        and substr(b.entries, 9, 32) <> sha256(record_send(t))`,
  );
  expect(row?.uncovered).toBe(0);
});

/**
 * Names are looked up one by one. The failure it prevents: the planner estimates that a batch's names
 * match a large part of the table, and reads the whole table for each batch.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ResourceRef } from '../../src/ledger/domain/snapshot.ts';
import { readEntries, readEvidence } from '../../src/ledger/read/store/explain.ts';
import { readEpochs, readSnapshots } from '../../src/ledger/store/snapshots.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const NAMES = 500;
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.query(
    `insert into resources (kind, id) select 'payment', 'pay_' || i from generate_series(1, $1) i`,
    [2 * NAMES],
  );
  await db.query(
    `insert into snapshots (kind, resource_id, epoch, content_hash, content, source,
                            observed_micros)
     select 'payment', 'pay_' || i, 0, sha256(i::text::bytea), '{}', 'webhook', 0
       from generate_series(1, $1) i`,
    [2 * NAMES],
  );
  await db.query(
    `insert into resource_epochs (kind, resource_id, epoch, floor_micros)
     select 'payment', 'pay_' || i, 1, 0 from generate_series(1, $1) i`,
    [2 * NAMES],
  );
  await db.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, effective_at,
                            effective_source)
     select 'payment', 'pay_' || i, 'captured', 'USD', 1, 'psp.clearing', 'order.due', 1, 0, 1,
            sha256('x'), now(), 'v'
       from generate_series(1, $1) i`,
    [2 * NAMES],
  );
  await db.query('analyze');
});
afterAll(() => db.drop());

const refs = Array.from(
  { length: NAMES },
  (_, place): ResourceRef => ({ kind: 'payment', id: `pay_${place + 1}` }),
);

test.each<[string, (tx: Queryable) => Promise<readonly unknown[]>]>([
  ['snapshots', (tx) => readSnapshots(tx, refs)],
  ['resource_epochs', (tx) => readEpochs(tx, refs)],
  ['snapshots', (tx) => readEvidence(tx, refs, 2 * NAMES)],
  ['transfers', (tx) => readEntries(tx, refs, 2 * NAMES)],
])('%s of many resources are read by their key alone', async (table, read) => {
  const plan: string[] = [];
  await read({
    query: async (text, values) => {
      const lines = await db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
      plan.push(...lines.map((line) => line['QUERY PLAN']));
      return [];
    },
  });
  expect(plan.join('\n')).not.toMatch(new RegExp(`Seq Scan on ${table} `));
  expect(await read(db)).toHaveLength(NAMES);
});

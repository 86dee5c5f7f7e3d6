/** A command that gets an id with a typing error names the id that exists. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shellWord } from '../../src/alerts/domain/shellWord.ts';
import { findNearId, ID_KINDS } from '../../src/search/nearId.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { disputeEvent, paymentEvent, payoutEvent, refundEvent } from '../support/payments.ts';
import { settingsFor, spawnProgram } from '../support/program.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let eventId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: 'pay_Zk4mTq9wXc', orderId: 'ord_summer_1001' }),
    refundEvent('pay_Zk4mTq9wXc', { refund_id: 'ref_Hs7dLp2v' }),
    disputeEvent('pay_Zk4mTq9wXc', { dispute_id: 'dp_Vb5nGy8k' }),
    payoutEvent({ payout_id: 'po_Jw3rFt6z', merchant_order_reference_id: 'march run' }),
  ]);
  const [event] = await db.query<{ id: string }>(
    'select event_id as id from webhook_events order by id limit 1',
  );
  eventId = event?.id ?? '';
});
afterAll(() => db.drop());

const run = (...args: readonly string[]) => tallyhook(db.url, ...args);

test.each([
  [['orders', 'show', 'ord_sumer_1001'], 'ord_summer_1001'],
  [['orders', 'parts', 'pay_Zk4mTq9'], 'pay_Zk4mTq9wXc'],
  [['orders', 'explain', 'po_Jw3rTf6z'], 'po_Jw3rFt6z'],
  [['find', 'REF_HS7DLP2V'], 'ref_Hs7dLp2v'],
  [['find', 'bp_Vb5nGy8k'], 'dp_Vb5nGy8k'],
])('tallyhook %j suggests %s', async (args, meant) => {
  const { code, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining(`Did you mean ${meant}?`),
  });
});

test('an order that is the id of a payout leads to the command that shows it', async () => {
  for (const command of ['show', 'parts']) {
    const { code, stderr } = await run('orders', command, 'po_Jw3rFt6z');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('`npx tallyhook orders explain po_Jw3rFt6z` shows it.'),
    });
  }
  expect((await run('orders', 'show', 'payee_7')).stderr).toContain(
    '`npx tallyhook find` searches ids of every kind.',
  );
});

test('an id of another kind is named as what it is, and not as unknown only', async () => {
  const refused = [
    [['orders', 'explain', 'march run'], 'the reference of a payout'],
    [['orders', 'show', 'march run'], 'the reference of a payout'],
    [['events', 'show', 'ord_summer_1001'], 'the id of an order'],
    [['events', 'show', 'ref_Hs7dLp2v'], 'the id of a refund'],
  ] as const;
  for (const [args, what] of refused) {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(`It is ${what}: \`npx tallyhook find ${shellWord(args[2])}\``),
    });
  }
  expect((await run('find', 'march run')).stdout).toContain('po_Jw3rFt6z');
});

test('an event that is older than the inbox is not reported as one that has not arrived', async () => {
  const [first] = await db.query<{ id: number }>('select min(id) as id from webhook_events');
  const { code, stderr } = await run('events', 'show', String((first?.id ?? 0) - 1));
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining('retention removed it, or its number was never used'),
  });
  expect((await run('events', 'show', '999999')).stderr).not.toContain('retention');
});

test('an event, with --json as well, and only among events', async () => {
  const typed = eventId.replace('_', '');
  for (const command of ['show', 'variants', 'replay']) {
    const { code, stdout } = await run('events', command, typed, '--json');
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error.message).toContain(`Did you mean ${eventId}?`);
  }
  expect((await run('events', 'show', 'ord_sumer_1001')).stderr).not.toContain('Did you mean');
});

test('an erasure names each subject of which nothing is known', async () => {
  const args = [
    'erase',
    '--reason',
    'a request',
    '--by',
    'ada',
    '--yes',
    '--order',
    'ord_sumer_1001',
  ];
  const { code, stderr } = await run(...args, '--customer', 'cus_none');
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining(
      'Nothing is known of order ord_sumer_1001 (did you mean ord_summer_1001?), customer cus_none.',
    ),
  });
});

test('tail follows an order that is not known yet, and names the one that may be meant', async () => {
  const program = spawnProgram('bin/tallyhook.js', ['tail', '--order', 'ord_sumer_1001'], {
    env: settingsFor(db.url),
  });
  await waitFor('tail to be ready', () => program.stderr().includes('Ready.'));
  program.kill('SIGTERM');
  expect(await program.exit).toMatchObject({ code: 0 });
  expect(program.stderr()).toContain('ord_sumer_1001 yet');
  expect(program.stderr()).toContain('Did you mean ord_summer_1001?');
});

test('without a near id there is no suggestion', async () => {
  expect((await run('find', 'something_else')).stderr).not.toContain('Did you mean');
});

test('indexes suffice to find a near id, and few rows are read', async () => {
  await db.query(
    `insert into webhook_events (event_id, event_type, body_sha256, received_at)
     select 'bulk_' || md5(n::text), 'other', sha256(convert_to('bulk' || n, 'UTF8')), now()
       from generate_series(1, 2000) n`,
  );
  await db.transaction(async (tx) => {
    // Of so few rows, PostgreSQL would read all.
    await tx.query('set local enable_seqscan = off');
    expect(await findNearId(tx, `x${eventId}`, ID_KINDS)).toBe(eventId);
    const [read] = await tx.query<{ rows: number }>(
      `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
         from pg_stat_xact_user_tables where relname = 'webhook_events'`,
    );
    expect(read?.rows).toBeGreaterThan(0);
    expect(read?.rows).toBeLessThan(100);
  });
});

/** The lists of the command line: text, JSON and CSV of the same rows. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_KEY, chainJournal } from '../support/chain.ts';
import { runTallyhook, tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: 'pay_1', orderId: '=cmd,"x"' }),
    paymentEvent({ payment_id: 'pay_2', orderId: 'ord_2', currency: 'JPY', amount: 500 }),
    refundEvent('pay_1', { refund_id: 'ref_1', status: 'failed', error_message: 'closed, sorry' }),
  ]);
});
afterAll(() => db.drop());

const run = (...args: readonly string[]) => tallyhook(db.url, ...args);

test('a list has the reason of what failed, and its totals', async () => {
  const { stdout } = await run('refunds', 'list', '--status', 'failed', '--totals');
  expect(stdout).toMatch(/ref_1 .*failed .*10\.00 USD .*closed, sorry/);
  expect(stdout).toContain('Total: 1 in all.\n  USD: 1, 10.00 USD');
  expect((await run('refunds', 'list', '--status', 'pending')).stdout).toBe('No such refunds.\n');
});

test('a list that is cut shows how it continues, in text and in JSON', async () => {
  const first = await run('payments', 'list', '--limit', '1');
  expect(first.stderr).toMatch(/There are more\. Continue with .*--cursor/);
  const json = JSON.parse((await run('payments', 'list', '--limit', '1', '--json')).stdout);
  expect(json).toMatchObject({ totals: null });
  const rest = await run('payments', 'list', '--cursor', json.next_cursor, '--json', '--totals');
  const { payments, next_cursor, totals } = JSON.parse(rest.stdout);
  expect([...json.payments, ...payments].map((one) => one.payment_id).toSorted()).toEqual([
    'pay_1',
    'pay_2',
  ]);
  expect(next_cursor).toBeNull();
  expect(totals).toMatchObject({ count: 2, complete: true });
});

test('CSV has every row, and runs nothing in a spreadsheet', async () => {
  const { stdout } = await run('payments', 'list', '--csv');
  const [heading, ...lines] = stdout.trimEnd().split('\n');
  expect(heading).toMatch(/^payment_id,order_id,status,currency,amount,authorized,captured,/);
  expect(lines).toHaveLength(2);
  expect(stdout).toContain(`pay_1,"'=cmd,""x""",succeeded,USD,65.40,0.00,65.40,`);
  const orders = await run('orders', 'list', '--csv', '--currency', 'jpy');
  expect(orders.stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(orders.stdout).toContain('ord_2,order:ord_2,');
});

test('the journal is listed by account and order, with the cursor of the rest', async () => {
  const first = await run('transfers', 'list', '--order', 'ord_2', '--totals');
  expect(first.stdout).toMatch(/payment captured .*psp\.clearing .*order\.due .*6540 JPY .*pay_2/);
  expect(first.stdout).toContain('Total: 1 in all.\n  JPY: 1, 6540 JPY');
  const page = await run('transfers', 'list', '--account', 'order.due', '--limit', '1', '--json');
  const { transfers, next_cursor } = JSON.parse(page.stdout);
  const rest = await run(
    'transfers',
    'list',
    '--account',
    'order.due',
    '--cursor',
    next_cursor,
    '--json',
  );
  const all = [...transfers, ...JSON.parse(rest.stdout).transfers];
  expect(all.map(({ resource_id }) => resource_id).toSorted()).toEqual(['pay_1', 'pay_2']);
});

test('balances are printed now and as of a time', async () => {
  expect((await run('balances')).stdout).toMatch(/order\.due +income +0 JPY +6540 JPY +-6540 JPY/);
  const { stdout } = await run('balances', '--as-of', '2020-01-01', '--json');
  expect(JSON.parse(stdout)).toEqual({
    as_of: '2020-01-01T00:00:00.000000Z',
    known_at: null,
    accounts: [],
  });
  const known = await run(
    'balances',
    '--as-of',
    '2100-01-01',
    '--known-at',
    '2020-01-01',
    '--json',
  );
  expect(JSON.parse(known.stdout).accounts).toEqual([]);
});

test('the statement of a month is printed in each format, and has the same sums', async () => {
  const statement = (...options: readonly string[]) =>
    run('statement', '--month', '2026-11', '--currency', 'JPY', ...options);
  const text = (await statement('--time-zone', 'Europe/Berlin')).stdout;
  expect(text).toMatch(
    /^Statement of 2026-11\n2026-11-01 00:00 to 2026-12-01 00:00, Europe\/Berlin/,
  );
  expect(text).toMatch(/Captured +1 +6540 JPY/);
  const { currencies } = JSON.parse((await statement('--format', 'json')).stdout);
  expect(currencies).toMatchObject([{ currency: 'JPY', net: 6540 }]);
  const csv = (await statement('--format', 'csv')).stdout;
  expect(csv).toContain('\n2026-11,UTC,JPY,closing,,psp.clearing,,,,6540\n');
  expect(csv, 'a spreadsheet adds up credits').toContain(
    '\n2026-11,UTC,JPY,closing,,order.due,,,,-6540\n',
  );
  const html = (await statement('--format', 'html')).stdout;
  expect(html).toMatch(/^<!doctype html><html lang="en">.*<style>.*size: a4/s);
  expect(html).not.toMatch(/style=|<script|src=/);
  expect(html).toMatch(/6540 JPY/);
});

test('a statement that somebody kept proves later that the journal is as it was', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallyhook-statement-'));
  const verify = (file: string) =>
    runTallyhook(['verify', '--chain', '--head', file], {
      env: { DATABASE_URL: db.url, CHAIN_KEY, PAYMENTS_MERCHANT_ID: MERCHANT_ID },
    });
  const head = await chainJournal(db);
  const files = ['text', 'json', 'html'].map((format) => join(folder, format));
  for (const file of files) {
    const { stdout } = await run('statement', '--month', '2026-11', '--format', basename(file));
    expect(stdout).toContain(`${head.number}:${head.digest}`);
    await writeFile(file, stdout);
    expect(await verify(file)).toMatchObject({ code: 0, stderr: '' });
  }
  // Whoever has the database and the key edits a transfer, and makes the chain again.
  await db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    await tx.query(`update transfers set recorded_at = recorded_at + interval '1 second'`);
    await tx.query('delete from chain_blocks');
  });
  await chainJournal(db);
  for (const file of files) {
    const { code, stdout } = await verify(file);
    expect(stdout).toContain(`Another block has the number of the published block ${head.number}`);
    expect(code).toBe(6);
  }
  await rm(folder, { recursive: true });
});

test.each([
  [['--month', '2026-13'], 'Give a month such as 2026-10.'],
  [['--month', '2026-11', '--time-zone', '+02:00'], 'Give the name of a time zone'],
])('a statement with %j is refused', async (args, sentence) => {
  const { code, stderr } = await run('statement', ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});

test.each([
  [['--min-amount', '2', '--max-amount', '1'], '--min-amount must not exceed --max-amount'],
  [['--from', '2026-02-01', '--to', '2026-02-01'], '--from must be before --to'],
  [['--csv', '--json'], '--csv prints rows only'],
  [['--currency', 'euro'], 'Give a currency of three letters'],
])('%j is refused', async (args, sentence) => {
  for (const list of ['payments', 'orders']) {
    const { code, stderr } = await run(list, 'list', ...args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(sentence);
  }
});

test('a payment has a due time while it can be captured', async () => {
  const hold = { amount: 900, capture_before: '2031-01-02T03:04:00Z' };
  await applyEach(db, testApplier(db), [
    paymentEvent({
      payment_id: 'pay_held',
      orderId: 'ord_due',
      status: 'requires_capture',
      ...hold,
    }),
    paymentEvent({ payment_id: 'pay_taken', orderId: 'ord_due', ...hold }),
  ]);
  const { stdout } = await run('payments', 'list', '--order', 'ord_due');
  expect(stdout).toMatch(/pay_held .*2031-01-02 03:04/);
  expect(stdout).toMatch(/pay_taken/);
  expect(stdout.match(/2031-01-02/g)).toHaveLength(1);
});

/**
 * Amounts at the limits of their range are exact in the ledger, and every command shows them with the
 * decimals of their currency.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exitCodes.ts';
import { tallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;

/** Amounts as sent, and as commands show them. */
const CASES = [
  { id: 'usd_largest', currency: 'USD', amount: LARGEST, shown: '90071992547409.91' },
  { id: 'usd_zero', currency: 'USD', amount: 0, shown: '0.00' },
  { id: 'usd_cent', currency: 'usd', amount: 1, shown: '0.01' },
  { id: 'jpy_largest', currency: 'JPY', amount: LARGEST, shown: '9007199254740991' },
  { id: 'jpy', currency: 'JPY', amount: 6540, shown: '6540' },
  { id: 'kwd_largest', currency: 'KWD', amount: LARGEST, shown: '9007199254740.991' },
  { id: 'kwd', currency: 'KWD', amount: 6540, shown: '6.540' },
] as const;

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  const bodies = CASES.flatMap(({ id, currency, amount }) => [
    eventBody(
      paymentObject({
        payment_id: `pay_${id}`,
        amount,
        amount_received: amount,
        currency,
        metadata: { order_id: id },
      }),
    ),
    // The service sends a dispute's amount as text.
    eventBody(
      {
        dispute_id: `dp_${id}`,
        payment_id: `pay_${id}`,
        amount: String(amount),
        currency,
        dispute_status: 'dispute_opened',
        dispute_stage: 'dispute',
      },
      { eventType: 'dispute_opened', contentType: 'dispute_details' },
    ),
  ]);
  await applyEach(db, testApplier(db), bodies);
});
afterAll(() => db.drop());

test.each(CASES)('$id in the ledger: exact', async ({ id, amount }) => {
  const [totals] = await db.query(
    `select t.captured_minor::text as captured, t.disputed_minor::text as disputed, t.currency
       from order_totals t join orders o using (order_key) where o.order_id = $1`,
    [id],
  );
  const exact = String(amount);
  expect(totals).toEqual({
    captured: exact,
    disputed: exact,
    currency: id.slice(0, 3).toUpperCase(),
  });
  const moved = await db.query(
    `select leg, amount_minor::text as amount from transfers where resource_id like $1 order by id`,
    [`__\\_${id}`],
  );
  const movedPayment = await db.query(
    `select leg, amount_minor::text as amount from transfers where resource_id = $1 order by id`,
    [`pay_${id}`],
  );
  expect([...movedPayment, ...moved]).toEqual(
    amount === 0
      ? []
      : [
          { leg: 'captured', amount: exact },
          { leg: 'held', amount: exact },
        ],
  );
});

test.each(CASES)('$id in orders show, explain and find: $shown', async ({ id, shown }) => {
  const currency = id.slice(0, 3).toUpperCase();
  const money = `${shown} ${currency}`;
  const [show, explain, find] = await Promise.all([
    tallyhook(db.url, 'orders', 'show', id),
    tallyhook(db.url, 'orders', 'explain', id),
    tallyhook(db.url, 'find', `pay_${id}`),
  ]);
  expect(show.stdout).toContain(`captured ${money}`);
  expect(explain.stdout).toContain(`captured ${money}: `);
  expect(find.stdout).toContain(`, ${money}, `);
});

test('every amount in orders list', async () => {
  const { stdout } = await tallyhook(db.url, 'orders', 'list');
  for (const { id, shown } of CASES) {
    const money = `${shown} ${id.slice(0, 3).toUpperCase()}`.replaceAll('.', '\\.');
    expect(stdout).toMatch(new RegExp(`^${id} +\\w+ +${money} `, 'm'));
  }
});

test('every export is exact, and so are sums above 2^53', async () => {
  const [csv, jsonl] = await Promise.all(
    ['csv', 'jsonl'].map((format) => tallyhook(db.url, 'export', 'journal', '--format', format)),
  );
  const [entries, hledger, beancount] = await Promise.all(
    ['csv', 'hledger', 'beancount'].map((format) =>
      tallyhook(db.url, 'export', 'entries', '--format', format),
    ),
  );
  for (const { id, amount, shown } of CASES) {
    if (amount === 0) continue;
    const currency = id.slice(0, 3).toUpperCase();
    expect(csv?.stdout).toContain(`,${currency},${shown},${amount},`);
    expect(jsonl?.stdout).toContain(`"currency":"${currency}","amount_minor":${amount},`);
    expect(entries?.stdout).toContain(`,${currency},,${shown},payment pay_${id} captured 1,`);
    expect(hledger?.stdout).toContain(` payment pay_${id} captured 1  ; `);
    expect(hledger?.stdout).toContain(`    Income:Orders  -${shown} ${currency}\n`);
    expect(beancount?.stdout).toContain(`  Income:Orders  -${shown} ${currency}\n`);
  }
  // 2^53 - 1 and 6540 more, of the yen payments.
  expect(hledger?.stdout).toContain('Income:Orders  0 JPY = -9007199254747531 JPY');
  expect(hledger?.stdout).toContain('Income:Orders  0.000 KWD = -9007199254747.531 KWD');
  expect(beancount?.stdout).toContain('Income:Orders  -9007199254747.531 ~ 0 KWD');
});

test('a balance above 2^53 is printed exactly, and refused by name where JSON would round it', async () => {
  const [table, json] = await Promise.all([
    tallyhook(db.url, 'balances'),
    tallyhook(db.url, 'balances', '--json'),
  ]);
  expect(table.stdout).toContain('9007199254747531 JPY');
  expect(json.code).toBe(EXIT_CODES.refused.code);
  expect(JSON.parse(json.stdout)).toMatchObject({ error: { class: 'refused' } });
  expect(json.stderr).toMatch(/^tallyhook: A sum of -?9007199254\d{6} minor units exceeds .+\n$/);
  expect(json.stderr).toContain('Without --json the command prints it exactly.');
});

/** The statement of a month in which late postings are booked, also those of settlement and bank lines. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';

const REASON = 'no report yet\nNothing was unproven.\n\u001B[8m';

let db: TestDatabase;

const run = (...args: readonly string[]) =>
  runTallyhook(args, { env: { DATABASE_URL: db.url, PAYMENTS_MERCHANT_ID: MERCHANT_ID } });
const statement = async (format: string, month = '2026-11') => {
  const { code, stdout, stderr } = await run('statement', '--month', month, '--format', format);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};
const payment = (at: string) => {
  const time = { created: at, modified_at: at };
  return eventBody(paymentObject({ ...time, amount: 700, amount_received: 700 }));
};

beforeAll(async () => {
  db = await createTestDatabase();
  const applier = testApplier(db);
  const early = ['2026-10-04T10:00:00.000Z', '2026-11-04T10:00:00.000Z'];
  await applyEach(db, applier, early.map(payment));
  await run('close', '2026-10', '--with-exceptions', '--reason', REASON);
  await applyEach(db, applier, [payment('2026-10-05T10:00:00.000Z')]);
  for (const [file, source] of [
    ['report.csv', 'report-source.json'],
    ['statement.xml', 'bank-camt-source.json'],
  ] as const) {
    const path = (name: string) => join(packageRoot(), 'docs/examples/settlement', name);
    expect(await run('settle', 'import', path(file), '--source', path(source))).toMatchObject({
      code: 0,
    });
  }
});
afterAll(() => db.drop());

test('as JSON names late lines as what they are, also in the month to which they belong', async () => {
  for (const [month, name] of [
    ['2026-11', 'late_postings'],
    ['2026-10', 'booked_later'],
  ] as const) {
    const { first } = JSON.parse(await statement('json', month))[name] as {
      readonly first: readonly { readonly kind: string }[];
    };
    expect(new Set(first.map(({ kind }) => kind))).toEqual(
      new Set(['payment', 'settlement_line', 'bank_line']),
    );
  }
});

test('as CSV leads from each opening balance to the closing balance', async () => {
  const rows = (await statement('csv'))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const minor = (text = '') => BigInt(text.replace('.', '') || '0');
  const balances = new Map<string, bigint>();
  const closing = new Map<string, bigint>();
  for (const [, , currency, row = '', , account, , debited, credited, amount] of rows) {
    const name = `${account} ${currency}`;
    if (row === 'closing') closing.set(name, minor(amount));
    if (row === 'opening') balances.set(name, minor(amount));
    if (!['movement', 'late_movement'].includes(row)) continue;
    balances.set(name, (balances.get(name) ?? 0n) + minor(debited) - minor(credited));
  }
  expect(balances).toEqual(closing);
  expect(closing.get('order.due USD')).toBe(-2100n);
  expect(closing.get('bank.account EUR')).toBe(6825n);
});

test('as text has what people wrote in one line, without escape sequences', async () => {
  const text = await statement('text', '2026-10');
  expect(text).toContain('Reason: no report yet\uFFFDNothing was unproven.\uFFFD');
  expect(text).not.toMatch(/^Nothing was unproven/m);
  expect(text).not.toContain('\u001B');
});

/** Balances, the journal, accounts, and the files of the journal. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closePeriod, reopenPeriod } from '../../src/statements/closePeriod.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { importBankLine, importLines } from '../support/importLines.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';
import { refuseRows } from '../support/refusedRows.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;
let tokens: Map<string, string>;

const HOSTILE = '"><script>alert(1)</script>';
const GREATEST = Number.MAX_SAFE_INTEGER;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
  const huge = { currency: 'KRW', amount: GREATEST, amount_received: GREATEST };
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: 'pay_1', orderId: `=ord${HOSTILE}` }),
    refundEvent('pay_1', { refund_id: 'ref_1', amount: 1_000 }),
    paymentEvent({ payment_id: 'pay_2', orderId: 'ord_2', ...huge }),
    paymentEvent({ payment_id: 'pay_3', orderId: 'ord_3', ...huge }),
  ]);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

describe('the page of balances', () => {
  test('has each account of each currency with its side, also beyond the exact integers', async () => {
    const { status, html } = await viewer.get('/ledger');
    expect(status).toBe(200);
    expect(html).toContain('href="/ledger/accounts/psp.clearing"');
    // 65.40 captured less 10.00 refunded.
    expect(html).toMatch(/55\.40 <abbr>USD<\/abbr><\/span> debit/);
    expect(html).toMatch(/18014398509481982 <abbr>KRW<\/abbr><\/span> credit/);
  });

  test('as of a time has what the service moved before it, as known at a time', async () => {
    const { html } = await viewer.get('/ledger?at=2020-01-01T00:00');
    expect(html).toContain('Balances as of 2020-01-01 00:00 UTC');
    expect(html).toContain('No transfer was recorded before this time');
    const later = await viewer.get('/ledger?at=2100-01-01T00:00');
    expect(later.html).toContain('55.40');
    const known = await viewer.get('/ledger?at=2100-01-01T00:00&known=2020-01-01T00:00');
    expect(known.html).toContain('as it was known at 2020-01-01 00:00 UTC');
    expect(known.html).not.toContain('55.40');
    expect((await viewer.get('/ledger?at=2026-02-31')).status).toBe(400);
    expect((await viewer.get('/ledger?known=2026-02-31')).status).toBe(400);
  });
});

describe('the statement of a month', () => {
  test('has the totals of each currency, and links to its neighbors and its file', async () => {
    const { html } = await viewer.get('/ledger/statements/2026-11?time_zone=Europe/Berlin');
    expect(html).toContain('2026-11-01 00:00 to 2026-12-01 00:00, Europe/Berlin');
    expect(html).toMatch(/Captured<\/th><td class="number">\d+<\/td><td class="number">65\.40 USD/);
    expect(html).toContain('href="/ledger/statements/2026-10?time_zone=Europe%2FBerlin"');
    const { html: before } = await viewer.get('/ledger/statements/2026-10');
    expect(before).toContain('href="/ledger/statements/2026-11?');
    // A month that is not over has none after it.
    const { html: future } = await viewer.get('/ledger/statements/2199-12');
    expect(future).toContain('href="/ledger/statements/2199-11?');
    expect(future).not.toContain('/ledger/statements/2200-01');
    expect((await viewer.get('/ledger/statements/2200-01')).status).toBe(400);
    const { html: csv } = await viewer.get('/ledger/statement.csv?month=2026-11&currency=USD');
    expect(csv).toContain('2026-11,UTC,USD,total,,captured,');
    expect((await viewer.get('/ledger/statements/2026-13')).status).toBe(400);
  });

  test('offers the entries of its days for accounting programs, which the audit log records', async () => {
    const { html } = await viewer.get('/ledger/statements/2026-11?currency=USD');
    const formats = ['csv', 'hledger', 'beancount'];
    for (const format of formats) {
      const path = `/ledger/entries.${format}?currency=USD&time_zone=UTC&month=2026-11`;
      expect(html).toContain(`href="${path.replaceAll('&', '&amp;')}"`);
      const { status, headers } = await viewer.get(path);
      expect(status).toBe(200);
      expect(headers.get('content-disposition')).toContain(`entries.${format}`);
    }
    const { html: text } = await viewer.get('/ledger/entries.hledger?currency=USD&month=2026-11');
    expect(text).toMatch(/^2026-11-\d\d \(2026-11-\d\d-USD\) totals of the day$/m);
    expect(text).toContain('    Assets:Service:Clearing  0.00 USD = 55.40 USD');
    expect(text).not.toContain('KRW');
    await waitFor('the end of the export', async () => {
      const [last] = await db.query<{ result: string; detail: object }>(
        `select result, detail from audit where action = 'journal.export' order by id desc limit 1`,
      );
      if (last?.result !== 'done') return false;
      expect(last.detail).toMatchObject({ transfers: 3 });
      return true;
    });
    expect((await viewer.get('/ledger/entries.csv?month=2026-13')).status).toBe(400);
  });

  test('has the days of the closed months in its files, if no time zone is given', async () => {
    const closing = { month: '2026-10', by: 'ada', reason: 'a test' };
    await db.transaction((tx) =>
      closePeriod(tx, { ...closing, timeZone: 'Europe/Berlin', withExceptions: true }),
    );
    try {
      const { html: statement } = await viewer.get('/ledger/statement.csv?month=2026-11');
      expect(statement).toContain('\n2026-11,Europe/Berlin,');
      const { html: entries } = await viewer.get('/ledger/entries.hledger?month=2026-11');
      expect(entries).toContain('Days are those of Europe/Berlin ');
    } finally {
      await db.transaction((tx) => reopenPeriod(tx, closing));
    }
  });

  test('is refused before the first byte of its file while transfers have no effective time', async () => {
    const [constraint] = await db.query<{ definition: string }>(
      `select pg_get_constraintdef(oid) as definition from pg_constraint
        where conname = 'transfers_effective'`,
    );
    // As an earlier version left them.
    const update = (values: string) =>
      db.query(`set session_replication_role = replica;
        update transfers set ${values} where leg = 'captured' and resource_id = 'pay_1';
        set session_replication_role = default`);
    const [before] = await db.query<{ at: string; source: string }>(
      `select effective_at::text as at, effective_source as source from transfers
        where leg = 'captured' and resource_id = 'pay_1'`,
    );
    await db.query('alter table transfers drop constraint transfers_effective');
    await update('effective_at = null, effective_source = null');
    try {
      for (const path of [
        '/ledger/statements/2026-11',
        '/ledger/statement.csv?month=2026-11',
        '/ledger/entries.hledger?month=2026-11',
        '/ledger/journal',
        '/ledger/journal.csv',
      ]) {
        const { status, html, headers } = await viewer.get(path);
        expect(status).toBe(503);
        expect(html).toContain('have no effective time yet');
        expect(headers.get('content-disposition')).toBeNull();
      }
      expect((await viewer.get('/ledger/journal?recorded=1')).html).toContain('not known yet');
    } finally {
      await update(`effective_at = '${before?.at}', effective_source = '${before?.source}'`);
      await db.query(
        `alter table transfers add constraint transfers_effective ${constraint?.definition}`,
      );
    }
  });
});

describe('the journal', () => {
  test('links each transfer to its accounts, order, resource and cause', async () => {
    const { status, html } = await viewer.get('/ledger/journal');
    expect(status).toBe(200);
    expect(html).toContain('refund requested');
    expect(html).toContain('href="/refunds/ref_1"');
    expect(html).toContain('href="/orders/ord_2"');
    expect(html).toContain('href="/ledger/accounts/order.due"');
    expect(html).toMatch(/href="\/inbox\/\d+">event \d+/);
    expect(html).not.toContain('<script>alert');
  });

  test.each([
    ['account=refund.in_flight', ['ref_1'], ['pay_1', 'pay_2']],
    ['order=ord_2', ['pay_2'], ['ref_1', 'pay_3']],
    ['part=pay_1', ['pay_1', 'ref_1'], ['pay_2']],
    ['currency=usd&min=10&max=10', ['ref_1'], ['pay_1"', 'pay_2']],
    ['to=2020-01-01', [], ['pay_1', 'ref_1']],
    ['to=2026-11-03', ['pay_1'], []],
    ['to=2026-11-03&recorded=1', [], ['pay_1', 'ref_1']],
  ])('filtered by %s has %j and not %j', async (query, shown, hidden) => {
    const { status, html } = await viewer.get(`/ledger/journal?${query}`);
    expect(status).toBe(200);
    for (const id of shown) expect(html).toContain(`>${id}<`);
    for (const id of hidden) expect(html).not.toContain(`/${id}`);
  });

  test('has the sums of its filter', async () => {
    const { html } = await viewer.get('/ledger/journal?part=pay_1');
    expect(html).toContain('<strong>3</strong> rows');
    expect(html).toMatch(/3 in USD: <span>moved <span class="money">85\.40/);
    expect(html).toContain('href="/ledger/journal.csv?part=pay_1"');
  });
});

describe('the page of an account', () => {
  test('has its balances and its side of each transfer', async () => {
    const { status, html } = await viewer.get('/ledger/accounts/psp.clearing?currency=USD');
    expect(status).toBe(200);
    expect(html).toContain('Balance in KRW');
    expect(html).toMatch(/debited <span class="money">65\.40/);
    expect(html).toMatch(/credited <span class="money">10\.00/);
    expect((await viewer.get('/ledger/accounts/nope')).status).toBe(404);
  });
});

describe('the files of the journal', () => {
  test('have the rows of the filter, and run nothing in a spreadsheet', async () => {
    const { status, html, headers } = await viewer.get('/ledger/journal.csv?part=pay_1');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toContain('journal.csv');
    const [heading, ...lines] = html.trimEnd().split('\n');
    expect(heading).toMatch(/^transfer,recorded_at,kind,/);
    expect(lines).toHaveLength(3);
    expect(html).not.toMatch(/(^|,)=/m);
    expect((await viewer.get('/ledger/journal.csv?from=never')).status).toBe(400);
  });

  test('have every transfer without a filter, oldest first, as JSON lines', async () => {
    const read = async (path: string) => {
      const { html, headers } = await viewer.get(path);
      expect(headers.get('content-type')).toContain('application/x-ndjson');
      return html
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const posted = await read('/ledger/journal.jsonl?recorded=1');
    expect(posted).toHaveLength(5);
    expect(posted).toEqual(posted.toSorted((a, b) => a.transfer - b.transfer));
    const effective = await read('/ledger/journal.jsonl');
    expect(effective).toEqual(
      posted.toSorted((a, b) => a.effective_at.localeCompare(b.effective_at)),
    );
  });

  test('are recorded in the audit log', async () => {
    await viewer.get('/ledger/journal.csv?account=order.due');
    // It is recorded once the reader has everything.
    await waitFor('the end of the export', async () => {
      const [last] = await db.query<{ result: string; detail: object }>(
        `select result, detail from audit where action = 'journal.export' order by id desc limit 1`,
      );
      if (last?.result !== 'done') return false;
      expect(last.detail).toMatchObject({ transfers: 3 });
      return true;
    });
    const requested = await db.query<{ detail: object }>(
      `select detail from audit where action = 'journal.export' and result = 'requested'
        order by id desc limit 1`,
    );
    expect(requested).toMatchObject([{ detail: { account: 'order.due' } }]);
  });

  test('are refused to a role that may not read', async () => {
    const metrics = await openPages(tallyhook, tokens.get('metrics'));
    for (const path of ['/ledger', '/ledger/journal', '/ledger/journal.csv']) {
      expect((await metrics.get(path)).status).toBe(403);
    }
  });
});

// The last one: it imports lines, which post transfers.
describe('the page of what is in clearing', () => {
  test('explains the balance, and lists what is unmatched with a filter and pages', async () => {
    expect((await viewer.get('/ledger/clearing')).html).toContain(
      'No settlement report or bank statement was imported',
    );
    await importLines(db, `arrived ${HOSTILE}`);
    const { status, html } = await viewer.get('/ledger/clearing');
    expect(status).toBe(200);
    // 55.40 at the service, 0.30 of fees, 1.00 of an adjustment, and 0.75 at the bank.
    expect(html).toMatch(/Balance:.*55\.35 <abbr>USD<\/abbr><\/span> debit/);
    expect(html).toContain('href="/payments/pay_1"');
    expect(html).toContain('arrived &quot;>&lt;script>');
    const query = 'part=unknown_arrivals&currency=usd';
    const { html: arrivals } = await viewer.get(`/ledger/clearing?${query}`);
    expect(arrivals).toMatch(/-0\.75 <abbr>USD/);
    expect(arrivals).not.toContain('pay_1');
    expect((await viewer.get('/ledger/clearing?part=none')).status).toBe(400);
    expect((await viewer.get('/ledger/clearing?cursor=x')).status).toBe(400);
  });

  test('reads nothing of a journal of more than a million transfers', async () => {
    const [{ last } = { last: 0 }] = await db.query<{ last: number }>(
      `select setval(pg_get_serial_sequence('transfers', 'id'), 1000000) as last`,
    );
    await importBankLine(db, 80);
    const { status, html } = await viewer.get('/ledger/clearing');
    expect({ last, status }).toEqual({ last: 1_000_000, status: 200 });
    expect(html).toContain('tallyhook settle unmatched lists what is unmatched');
    expect(html).not.toContain('pay_1');
  });
});

describe('a file', () => {
  const FILES = [
    '/orders.csv',
    '/ledger/journal.csv',
    '/ledger/entries.csv?month=2026-11',
    '/ledger/statement.csv?month=2026-11',
  ];

  test.each(FILES)(
    'that cannot be recorded in the audit log is a page instead: %s',
    async (path) => {
      const end = await refuseRows(db, 'audit', `new.action in ('journal.export', 'list.export')`);
      try {
        const { status, html, headers } = await viewer.get(path);
        expect(status).toBe(503);
        expect(html).toContain('Try again');
        expect(headers.get('content-disposition')).toBeNull();
      } finally {
        await end();
      }
    },
  );

  test('of a statement is recorded in the audit log', async () => {
    await viewer.get('/ledger/statement.csv?month=2026-11&currency=KRW');
    const [exported] = await db.query<{ subject: string; detail: object }>(
      `select subject_id as subject, detail from audit where action = 'list.export' order by id desc`,
    );
    expect(exported).toEqual({
      subject: 'ledger/statement',
      detail: { filter: { month: '2026-11', currency: 'KRW' } },
    });
  });
});

/** The overview: what is open, what is near its deadline, and whether money and events flow. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Alert, Rule } from '../../src/alerts/domain/alert.ts';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { deleteProcess, saveProcess } from '../../src/monitor/store/processes.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

/** A time of the service, less than a day ago by the database's clock. */
async function anHourAgo(): Promise<string> {
  const [row] = await db.query<{ at: Date }>(`select now() - interval '1 hour' as at`);
  return row?.at.toISOString() ?? '';
}

test('an installation without events shows that nothing waits for a person', async () => {
  const { status, html } = await viewer.get('/');
  expect(status).toBe(200);
  expect(html).toContain('No webhook has arrived yet.');
  expect(html).toContain('No alert is open: nothing waits for a person.');
  expect(html).toContain('No money was recorded in the last 30 days.');
  expect(html).not.toContain('paused');
});

test('nothing states that nothing waits for a person while webhooks are not applied', async () => {
  await receive(db, [paymentEvent({})]);
  await db.query(`update pending set since = now() - interval '1 minute'`);
  const { html } = await viewer.get('/');
  await db.query('delete from pending');
  expect(html).toContain('Webhooks arrive and are not applied: 1 pending');
  expect(html).toContain('No alert is open.');
  expect(html).not.toContain('othing waits for a person');
});

test('open alerts, the money of a day, pending events and a pause are shown', async () => {
  const paymentId = unique('pay');
  const created = await anHourAgo();
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, amount: 6540, amount_received: 6540, created }),
    paymentEvent({ amount: 1000, amount_received: 1000, created }),
    disputeEvent(paymentId, { amount: '2000' }),
  ]);
  await receive(db, [paymentEvent({})]);
  await viewer.post('/reconciliation/pause', { reason: 'a test' });
  // The sum of the journal is kept for a moment.
  let html = '';
  await waitFor('the sum of the journal', async () => {
    ({ html } = await viewer.get('/'));
    return html.includes('USD by day');
  });
  // On a busy machine the event has waited for longer than a restart takes.
  await db.query('update pending set since = now()');
  ({ html } = await viewer.get('/'));
  expect(html).toContain('Dispute opened');
  expect(html).toContain(
    '<p>Today and the days of the charts are those (UTC) on which the ledger recorded it.</p>',
  );
  expect(html).toContain('75.40 <abbr>USD</abbr>');
  expect(html).toContain('20.00 <abbr>USD</abbr>');
  expect(html).toMatch(/<dt>Pending<\/dt><dd><a [^>]+>1<\/a><\/dd>/);
  expect(html).toMatch(/<p class="headline (warn|bad)"><span>[^<]*Money is flowing/);
  expect(html).toContain('econciliation is paused');
  expect(html).toContain('by admin: a test');
});

/** Opens alerts of one rule. @returns their numbers */
async function open(rule: Rule, subjects: readonly string[], fields: Partial<Alert> = {}) {
  for (const subject of subjects) {
    const active = [alertOf({ rule, subject, ...fields })];
    await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: [rule], active }]));
  }
  const rows = await db.query<{ id: number }>(
    'select id from alerts where rule = $1 and subject = any ($2::text[]) order by id',
    [rule, subjects],
  );
  return rows.map(({ id }) => id);
}

test('an alert is one line with its amount and deadline, and many of one rule are one line together', async () => {
  const [{ at } = { at: new Date() }] = await db.query<{ at: Date }>(
    `select now() + interval '24 hours' as at`,
  );
  const detail = { amountMinor: 5400, currency: 'EUR' };
  const fields = { severity: 'critical', orderId: '1001', deadlineAt: at, detail } as const;
  const [urgent] = await open('dispute_deadline', [`dispute:${unique('dp')}`], fields);
  const burst = Array.from({ length: 4 }, () => `payment:${unique('pay')}`);
  const [first] = await open('missing_remote', burst);
  const { html } = await viewer.get('/');
  expect(html).toMatch(
    new RegExp(
      `critical</span> <a href="/alerts/${urgent}">Dispute needs evidence: 54.00 EUR on order 1001, evidence due `,
    ),
  );
  expect(html).toContain('Missing remotely: 4 alerts</a>');
  expect(html).not.toContain(`href="/alerts/${first}"`);
  // Among the deadlines, with the amount.
  const deadlines = html.slice(html.indexOf('Deadlines of the next 48 hours'));
  expect(deadlines).toContain('54.00 <abbr>EUR</abbr>');
  // A phone shows the beginning of a row, and the rest only to who scrolls.
  expect(deadlines).toMatch(/<tbody[^>]*><tr[^>]*><th[^>]*><time/);
});

test('a sum beyond the exact integers of JavaScript is shown to the last digit', async () => {
  const created = await anHourAgo();
  const largest = { amount: 2 ** 53 - 1, amount_received: 2 ** 53 - 1, currency: 'KWD', created };
  await applyEach(db, testApplier(db), [paymentEvent(largest), paymentEvent(largest)]);
  let html = '';
  await waitFor('the sum of the journal', async () => {
    ({ html } = await viewer.get('/'));
    return html.includes('KWD by day');
  });
  expect(html).toContain('18014398509481.982 <abbr>KWD</abbr>');
});

test('webhooks do not arrive while every delivery since the last verified one is rejected', async () => {
  await receive(db, [paymentEvent({})]);
  const flows = async () =>
    (await viewer.get('/')).html.includes('webhooks arrive and are applied');
  await db.query(`update webhook_events set received_at = now() - interval '3 minutes'`);
  await db.query(`delete from pending`);
  expect(await flows()).toBe(true);
  await db.query(
    `insert into watch_counts (minute, name, count)
     values (date_trunc('minute', now()), 'signature_mismatched', 2)`,
  );
  expect(await flows()).toBe(false);
  const { html } = await viewer.get('/');
  expect(html).toContain('2 in the last hour had a signature that matches no secret');
  await db.query('delete from watch_counts');
});

test('webhooks that wait while no process applies them are counted, with what to start', async () => {
  await receive(db, [paymentEvent({}), paymentEvent({})]);
  await db.query(`update pending set since = now() - interval '15 minutes'`);
  const [row] = await db.query<{ count: number }>('select count(*) from pending');
  const headline = async () => /headline [^>]*>(.*?)<\/p>/.exec((await viewer.get('/')).html)?.[1];
  const waiting = `Webhooks arrive and are not applied: ${row?.count} pending, the oldest for 15 minutes.`;
  expect(await headline()).toContain(
    `${waiting} <code>npx tallyhook start --roles events</code> starts a process that applies them.`,
  );
  const workerId = randomUUID();
  await saveProcess(db, {
    id: workerId,
    host: 'worker',
    pid: 1,
    roles: ['events'],
    version: '0',
    isReady: false,
    failures: ['queue: refuses work'],
    channels: [],
  });
  expect(await headline()).toContain(
    `${waiting} No process with the role events is ready: <code>npx tallyhook processes</code> has the reason.`,
  );
  await db.query('delete from pending');
  await deleteProcess(db, workerId);
});

test('webhooks are not applied while the last ones belong to another merchant account', async () => {
  await applyEach(db, testApplier(db), [paymentEvent({})]);
  const other = testApplier(db, 'merchant_other');
  const headline = async () =>
    /headline [^>]*><span>([^<]*)/.exec((await viewer.get('/')).html)?.[1] ?? '';
  await applyEach(db, other, [paymentEvent({}), paymentEvent({})]);
  expect(await headline()).toContain('webhooks arrive and are applied');
  await applyEach(db, other, [paymentEvent({})]);
  // What waits has no outcome yet.
  await receive(db, [paymentEvent({})]);
  expect(await headline()).toContain(
    'Webhooks arrive and are not applied: the last 3 belong to another merchant account.',
  );
});

/** What the console shows a person who works while the database is unavailable, or busy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserPath, openTab, startBrowser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { formTokenIn, openPages } from '../support/pages.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.ts';
import { beginTransaction } from '../support/transactions.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let proxy: TcpProxy;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await startTcpProxy(db.url);
  tallyhook = await startTallyhook({ db: { url: proxy.url }, roles: ['console'] });
});
afterAll(async () => {
  await tallyhook.close();
  await proxy.close();
  await db.drop();
});

const PAUSE = '/reconciliation/pause';
const pausesFor = async (reason: string) =>
  (
    await db.query(`select from audit where action = 'reconciliation.pause' and reason = $1`, [
      reason,
    ])
  ).length;

test('a form that is sent during an outage states that nothing was done, and can be sent afterwards', async () => {
  const viewer = await openPages(tallyhook);
  const reason = 'two\nlines';
  const form = { form_token: formTokenIn((await viewer.get('/reconciliation')).html), reason };
  proxy.refuse();
  // Within moments, an action may have begun before the console notices.
  let main = '';
  await waitFor('the outage is known', async () => {
    const { status, html } = await viewer.postRaw(PAUSE, form);
    main = html.slice(html.indexOf('<main'));
    return status === 503;
  });
  expect(main).toContain('Nothing was done: the database is unavailable.');
  expect(main).toContain(`action="${PAUSE}"`);
  expect(main).toContain('name="reason" value="two\nlines"');
  // Nor does the console know then who has a session.
  const unknown = await openPages(tallyhook, null);
  await waitFor('sessions cannot be read', async () => {
    const cookie = `${viewer.cookie()}x`;
    const { status, html } = await unknown.postRaw(PAUSE, form, { cookie });
    return status === 503 && html.includes('Nothing was done') && html.includes('value="two');
  });
  await proxy.resume();
  const kept = { form_token: formTokenIn(main), reason };
  await waitFor('the form is accepted', async () => {
    const { status } = await viewer.postRaw(PAUSE, kept);
    return status === 303;
  });
  expect(await pausesFor(reason)).toBe(1);
  await viewer.post('/reconciliation/resume', {});
});

test('an action that loses its connection is not reported as one that was not done', async () => {
  const viewer = await openPages(tallyhook);
  const form = { form_token: formTokenIn((await viewer.get('/reconciliation')).html) };
  const holder = await beginTransaction(db);
  await holder.tx.query('lock table audit in access exclusive mode');
  const acting = viewer.postRaw(PAUSE, { ...form, reason: 'interrupted' });
  await waitFor('the action waits', async () => {
    const waiting = await db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
  proxy.refuse();
  const { status, html } = await acting;
  await holder.rollBack();
  expect(status).toBe(504);
  expect(html).toContain('which may have been done');
  await proxy.resume();
});

const mainOf = (html: string) => html.slice(html.indexOf('<main'), html.indexOf('</main'));

/** Holds a lock that the page of schedules waits for. */
async function lockSchedules() {
  const holder = await beginTransaction(db);
  await holder.tx.query('lock table schedule_slots in access exclusive mode');
  return holder;
}

test('a page that waited too long for a lock is not shown as an outage', async () => {
  const viewer = await openPages(tallyhook);
  const holder = await lockSchedules();
  const opening = viewer.get('/system/schedule');
  const ended = opening.then(() => true);
  // As lock_timeout and statement_timeout do.
  await waitFor('the page is canceled', async () => {
    await db.query(
      `select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return await Promise.race([ended, Promise.resolve(false)]);
  });
  await holder.rollBack();
  const { status, html } = await opening;
  expect(status).toBe(503);
  expect(mainOf(html)).toContain('The database is available, and busy: this page waited too long');
  expect(mainOf(html)).not.toContain('unavailable');
  expect(mainOf(html)).not.toContain('opens by itself');
  expect((await viewer.get('/system/schedule')).status).toBe(200);
});

test('a page that got no connection because others wait for a lock is not shown as an outage', async () => {
  const viewer = await openPages(tallyhook);
  const holder = await lockSchedules();
  // More than the pool of the console has connections.
  const opening = Array.from({ length: 6 }, () => viewer.get('/system/schedule'));
  const { status, html } = await Promise.race(opening);
  await holder.rollBack();
  await Promise.all(opening);
  expect(status).toBe(503);
  expect(mainOf(html)).toContain('The database is available, and busy: this page waited too long');
});

test.skipIf(browserPath === undefined)(
  'a page that an outage kept from a person opens by itself when the database is back (in a browser)',
  async () => {
    const browser = await startBrowser();
    try {
      const page = await openTab(browser);
      const url = (path: string) => `http://127.0.0.1:${tallyhook.consolePort}${path}`;
      await page.goto(url('/'));
      await page.getByLabel('Token').fill(ADMIN_TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      proxy.refuse();
      await waitFor('the outage is known', async () => {
        const response = await page.goto(url('/system/audit'));
        return response?.status() === 503;
      });
      await page.getByText('This page opens by itself').waitFor();
      await proxy.resume();
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    } finally {
      await browser.close();
    }
  },
);

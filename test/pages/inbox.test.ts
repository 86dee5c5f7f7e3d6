/** The pages of the inbox and of findings, and what people do there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertFindings } from '../../src/ledger/store/findings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

const HOSTILE = `</pre><script>alert(1)</script>&'"`;

let db: TestDatabase;
let tallyhook: TestTallyhook;
let admin: PageViewer;
let reader: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  const tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  admin = await openPages(tallyhook);
  reader = await openPages(tallyhook, tokens.get('viewer') ?? '');
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

/** @returns the inbox number of a dead event */
async function die(error = 'it could not be applied'): Promise<number> {
  const [id = 0] = await receive(db, [eventBody(paymentObject({ description: HOSTILE }))]);
  await testApplier(db).markDead(id, 5, error);
  return id;
}

test('an event is listed by state, and its page has its body as text', async () => {
  const id = await die(`failed ${HOSTILE}`);
  await die('another error');
  const list = await admin.get('/inbox?state=dead');
  expect(list.html).toContain(`href="/inbox/${id}"`);
  expect(list.html).toContain('By error');
  const { status, html } = await admin.get(`/inbox/${id}`);
  expect(status).toBe(200);
  expect(html).toContain('<details class="json" open');
  expect(html).toContain('event_dead');
  for (const page of [list.html, html]) expect(page).not.toContain('<script>alert');
});

test('a dead event is discarded with a reason, and replayed', async () => {
  const id = await die();
  expect((await reader.post(`/inbox/${id}/discard`, { reason: 'x' })).status).toBe(403);
  expect((await admin.post(`/inbox/${id}/discard`, { reason: 'sent by a test' })).status).toBe(303);
  expect((await admin.get(`/inbox/${id}`)).html).toContain('sent by a test');
  expect((await admin.post(`/inbox/${id}/discard`, { reason: 'again' })).status).toBe(409);
  expect((await admin.post(`/inbox/${id}/replay`, {})).status).toBe(303);
  expect((await admin.get(`/inbox/${id}`)).html).toContain('pending');
});

/** What the form of a finding sends of the facts that it shows. */
const shownFacts = (html: string): { facts?: string } => {
  const [, facts] = /name="facts" value="([^"]+)"/.exec(html) ?? [];
  return facts === undefined ? {} : { facts };
};
/** The findings of a plan, as its form sends them. */
const plannedIn = (html: string): string[] =>
  [...html.matchAll(/name="finding" value="([^"]+)"/g)].map(([, value = '']) => value);

test('a finding is listed, and accepted with a reason', async () => {
  const id = await die();
  const [row] = await db.query<{ id: number }>('select id from findings where subject = $1', [
    `event:${id}`,
  ]);
  const path = `/findings/${row?.id}`;
  expect((await admin.get('/findings?class=event_dead')).html).toContain(`href="${path}"`);
  const { html } = await admin.get(path);
  expect(html).toContain(`href="/inbox/${id}"`);
  const facts = shownFacts(html);
  expect((await reader.post(`${path}/accept`, { ...facts, reason: 'x' })).status).toBe(403);
  expect((await admin.post(`${path}/accept`, { reason: HOSTILE })).status).toBe(400);
  expect((await admin.post(`${path}/accept`, { ...facts, reason: HOSTILE })).status).toBe(303);
  const after = (await admin.get(path)).html;
  expect(after).toContain('accepted');
  expect(after).not.toContain('<script>alert');
  const again = await admin.post(`${path}/accept`, { ...facts, reason: 'again' });
  expect(again.status).toBe(409);
});

/** @returns the number of the open finding about a subject */
async function findingAbout(subject: string): Promise<string> {
  const [row] = await db.query<{ id: number }>(
    `select id from findings where subject = $1 and state = 'open'`,
    [subject],
  );
  return String(row?.id);
}

test('several findings are accepted after a plan with their sums, and what is not open anymore is refused', async () => {
  const [orderId, paymentId] = [unique('ord'), unique('pay')];
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, orderId, amount: 6540, amount_received: 6540 }),
    refundEvent(paymentId, { amount: 9000 }),
    paymentEvent({ payment_id: `${paymentId}_2`, amount: 1000, amount_received: 1700 }),
    paymentEvent({ payment_id: `${paymentId}_3`, status: 'mystery', amount: 300, currency: 'JPY' }),
  ]);
  const dead = await die();
  const subjects = [
    `order:order:${orderId}`,
    `payment:${paymentId}_2`,
    `payment:${paymentId}_3`,
    `event:${dead}`,
  ];
  const finding = await Promise.all(subjects.map(findingAbout));
  expect((await admin.get('/findings')).html).toContain(`name="finding" value="${finding[0]}"`);
  expect((await reader.get('/findings')).html).not.toContain('name="finding"');
  expect((await reader.get('/findings/accept')).status).toBe(403);
  const chosen = finding.map((number) => `finding=${number}`).join('&');
  const plan = (await admin.get(`/findings/accept?${chosen}&finding=99999999`)).html;
  expect(plan).toContain('4 findings will be accepted.');
  expect(plan).toContain('1 of those that you chose are not open anymore.');
  // 24.60 refunded too much, and 7.00 captured too much.
  expect(plan).toContain('31.60 <abbr>USD</abbr>');
  expect(plan).toContain('24.60 <abbr>USD</abbr>');
  expect(plan).toContain('300 <abbr>JPY</abbr>');
  expect(plan).toContain('1 finding without an amount.');
  expect((await admin.get('/findings/accept?class=unknown_status')).html).toContain(
    '1 finding will be accepted.',
  );

  const planned = plannedIn(plan);
  expect(planned.map((one) => one.split(':')[0])).toEqual(finding.toReversed());
  const form = { finding: planned.slice(1), reason: 'known', confirmed: 'yes' };
  expect((await reader.post('/findings/accept', form)).status).toBe(403);
  expect((await admin.post('/findings/accept', { ...form, confirmed: '' })).status).toBe(400);
  expect((await admin.post('/findings/accept', form)).status).toBe(303);
  const result = await admin.post('/findings/accept', { ...form, finding: planned });
  expect(result.status).toBe(200);
  expect(result.html).toContain('1 finding accepted. 3 refused.');
  expect(result.html).toContain(`Finding ${finding[0]} is already accepted. Nothing was changed.`);
  const entries = await db.query<{ subject: string }>(
    `select subject_id as subject from audit where action = 'finding.accept' and reason = 'known' order by id`,
  );
  expect(entries.map(({ subject }) => subject).toSorted()).toEqual(finding.toSorted());
});

test('an acceptance leads back to the list that was shown', async () => {
  const subject = `event:${await die()}`;
  const list = `/findings?state=any&class=event_dead&subject=${encodeURIComponent(subject)}`;
  const nextIn = (html: string) =>
    (/name="next" value="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
  const { html } = await admin.get(list);
  expect(nextIn(html)).toBe(list);
  const all = /href="(\/findings\/accept\?[^"]*)"/.exec(html)?.[1] ?? '';
  const plan = (await admin.get(all.replaceAll('&amp;', '&'))).html;
  expect(plan).toContain(`href="${list.replaceAll('&', '&amp;')}"`);
  const form = { finding: plannedIn(plan), next: nextIn(plan), reason: 'known', confirmed: 'yes' };
  const { location } = await admin.post('/findings/accept', form);
  expect(location).toContain(`${list}&notice=`);
  const again = (await admin.post('/findings/accept', form)).html;
  expect(again).toContain(`<a href="${list.replaceAll('&', '&amp;')}">Back to the list</a>`);
});

test('facts that changed after the page was shown are not accepted, and are shown again', async () => {
  const subject = `payment:${unique('pay')}`;
  const excess = (minor: number) =>
    upsertFindings(db, [
      { class: 'over_refund', subject, detail: { excess_minor: minor, currency: 'EUR' } },
    ]);
  await excess(1);
  const path = `/findings/${await findingAbout(subject)}`;
  const seen = { reason: 'a cent', ...shownFacts((await admin.get(path)).html) };
  const list = `/findings/accept?subject=${encodeURIComponent(subject)}`;
  const several = { finding: plannedIn((await admin.get(list)).html), reason: 'a cent' };
  await excess(100_000);

  const refused = await admin.post(`${path}/accept`, seen);
  expect(refused.status).toBe(409);
  expect(refused.html).toContain('changed after they were shown');
  expect(refused.html).toContain(`href="${path}"`);
  const result = await admin.post('/findings/accept', { ...several, confirmed: 'yes' });
  expect(result.html).toContain('0 findings accepted. 1 refused.');
  expect(result.html).toContain(`href="${path}"`);

  const again = (await admin.get(path)).html;
  expect(again).toContain('&quot;excess_minor&quot;: 100000');
  const accepted = { reason: 'a thousand', ...shownFacts(again) };
  expect((await admin.post(`${path}/accept`, accepted)).status).toBe(303);
});

test('the plan of many findings shows some of each class and accepts all of them', async () => {
  for (let n = 0; n < 21; n += 1) await die();
  const { html } = await admin.get('/findings/accept?class=event_dead');
  const [, planned] = /(\d+) findings will be accepted/.exec(html) ?? [];
  const shown = 20;
  expect(html).toContain(`And ${Number(planned) - shown} more: `);
  expect(html.match(/name="finding"/g)).toHaveLength(Number(planned));
});

test.each(['/inbox/evt_none', '/findings/999999'])('%s is a page that states why', async (path) => {
  const { status, html } = await admin.get(path);
  expect(status).toBe(404);
  expect(html).toContain('Retention removes');
});

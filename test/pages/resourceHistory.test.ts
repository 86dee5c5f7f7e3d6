/** How a payment, refund, dispute or payout came to be: its timeline, and its bodies side by side. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import type { SnapshotContent } from '../../src/ledger/domain/snapshot.ts';
import { createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { observe, SECOND } from '../support/observations.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent, payoutEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

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

const apply = (...bodies: readonly Buffer[]) => applyEach(db, testApplier(db), bodies);

/** What a later retrieve returned. */
function retrieve(
  { id, kind }: { readonly id: string; readonly kind: 'payout' },
  content: SnapshotContent,
): Promise<unknown> {
  const observedMicros = Date.now() * 1_000 + SECOND;
  const one = observe(content, { id, kind, source: 'retrieve', observedMicros });
  return db.transaction((tx) =>
    applySnapshots(tx, {
      observations: [one],
      toRetrieve: [],
      alsoLock: [],
      nowMs: Date.now(),
      history: undefined,
    }),
  );
}

async function newFamily() {
  const [orderId, payment] = [unique('ord'), unique('pay')];
  const [refund, dispute] = [unique('ref'), unique('dp')];
  await apply(
    paymentEvent({ payment_id: payment, orderId }),
    refundEvent(payment, { refund_id: refund }),
    disputeEvent(payment, { dispute_id: dispute, amount: '2000' }),
  );
  return { payment, refund, dispute };
}

const timelineOf = (html: string): string =>
  /<ol class="timeline">([\s\S]*?)<\/ol>/.exec(html)?.[1] ?? '';

test('the timeline of a resource has its own entries with their causes, and none of other parts', async () => {
  const family = await newFamily();
  for (const kind of ['payment', 'refund', 'dispute'] as const) {
    const { html } = await viewer.get(`/${kind}s/${family[kind]}`);
    const timeline = timelineOf(html);
    expect(timeline).toContain(`Received in an event: ${kind} ${family[kind]}`);
    expect(timeline).toContain('because of event ');
    const others = Object.entries(family).filter(([other]) => other !== kind);
    for (const [other, id] of others) {
      expect(timeline).not.toContain(`Received in an event: ${other} ${id}`);
      expect(timeline).not.toContain(` of ${other} ${id}`);
    }
  }
});

test('a timeline is by effective time, or by recorded time, and links to the other', async () => {
  const { payment } = await newFamily();
  const { html: effective } = await viewer.get(`/payments/${payment}`);
  expect(timelineOf(effective)).toMatch(
    /^<li[^>]*><time[^>]*>2026-11-01 [^<]*<\/time> <small>recorded/,
  );
  expect(effective).toContain(`href="/payments/${payment}?recorded=1"`);
  const { html: recorded } = await viewer.get(`/payments/${payment}?recorded=1`);
  expect(timelineOf(recorded)).toMatch(/^<li[^>]*><time[^>]*>[^<]*<\/time> <span>Event /);
  expect(recorded).toContain('<small>effective <time');
  expect(recorded).toContain(`href="/payments/${payment}"`);
});

test('a payout has a timeline, although it has no order', async () => {
  const id = unique('po');
  await apply(payoutEvent({ payout_id: id }));
  const { html } = await viewer.get(`/payouts/${id}`);
  expect(timelineOf(html)).toContain(`Received in an event: payout ${id}, failed, 25.00 EUR`);
  expect(html).toContain(`href="/payouts/${id}/bodies"`);
});

test('causes, findings and alerts in a timeline link to their pages', async () => {
  const payment = unique('pay');
  await apply(paymentEvent({ payment_id: payment, orderId: unique('ord') }));
  // More than was captured.
  await apply(refundEvent(payment, { amount: 9000 }));
  const { html } = await viewer.get(`/payments/${payment}`);
  const links = [...timelineOf(html).matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
  expect(links.some((path) => path.startsWith('/inbox/'))).toBe(true);
  const order = /href="(\/orders\/[^"]+)"/.exec(html)?.[1] ?? '';
  const ofOrder = timelineOf((await viewer.get(order)).html);
  expect(ofOrder).toMatch(/href="\/findings\/\d+"/);
  expect(ofOrder).toContain(`href="/payments/${payment}"`);
  for (const path of links) expect((await viewer.get(path)).status, path).toBe(200);
});

test('two bodies of a payout are shown as received, with their differences marked', async () => {
  const id = unique('po');
  await apply(
    payoutEvent({ payout_id: id, status: 'pending', modified_at: '2026-11-02T10:00:00.000Z' }),
    payoutEvent({ payout_id: id, merchant_order_reference_id: '<script>alert(1)</script>' }),
  );
  const { status, html } = await viewer.get(`/payouts/${id}/bodies`);
  expect(status).toBe(200);
  expect(html).toMatch(/<del>\s*&quot;status&quot;: &quot;pending&quot;,<\/del>/);
  expect(html).toMatch(/<ins>\s*&quot;status&quot;: &quot;failed&quot;,<\/ins>/);
  expect(html).toContain('<del>  status: pending</del>');
  expect(html).toContain('<ins>  status: failed</ins>');
  expect(html).not.toContain('<script>alert');
});

test('a retrieve is compared with an event by its snapshot, and the page states why it has no body', async () => {
  const id = unique('po');
  await apply(payoutEvent({ payout_id: id }));
  await retrieve({ id, kind: 'payout' }, { status: 'success', amountMinor: 2500, currency: 'EUR' });
  const { html } = await viewer.get(`/payouts/${id}/bodies`);
  expect(html).toContain('A response of the service has no body here');
  expect(html).toContain('<del>  status: failed</del>');
  expect(html).toContain('<ins>  status: success</ins>');
  expect(html).toMatch(/: retrieved, success/);
});

test('the snapshots of another resource are not shown', async () => {
  const [one, other] = [unique('po'), unique('po')];
  await apply(payoutEvent({ payout_id: one }), payoutEvent({ payout_id: other, amount: 7 }));
  const { html } = await viewer.get(`/payouts/${other}/bodies`);
  const [, foreign] = /<option value="(\d+-[0-9a-f]+)"/.exec(html) ?? [];
  const page = await viewer.get(`/payouts/${one}/bodies?left=${foreign}`);
  expect(foreign).toBeDefined();
  expect(page.status).toBe(404);
  expect(page.html).toContain('is not one of this payout');
  expect((await viewer.get(`/refunds/${one}/bodies`)).status).toBe(404);
});

test('the API returns the same timeline and snapshots, without bodies', async () => {
  const id = unique('po');
  await apply(payoutEvent({ payout_id: id, description: 'only in the body' }));
  const api = createApi(tallyhook);
  const { timeline } = (await api.get(`/api/v1/resources/payout/${id}/timeline?recorded=1`)).body;
  expect(timeline).toEqual([
    expect.objectContaining({ type: 'event', event_type: 'payout_failed' }),
    expect.objectContaining({ type: 'snapshot', kind: 'payout', id, is_current: true }),
    ...timeline.slice(2),
  ]);
  const found = await api.get(`/api/v1/resources/payout/${id}/snapshots`);
  expect(found.body).toMatchObject({
    snapshots: [
      {
        source: 'webhook',
        is_current: true,
        content: { status: 'failed', amount: 2500, currency: 'EUR' },
      },
    ],
    snapshots_complete: true,
  });
  expect(JSON.stringify(found.body)).not.toContain('only in the body');
  expect((await api.get(`/api/v1/resources/refund/${id}/timeline`)).status).toBe(404);
  expect((await api.get(`/api/v1/resources/refund/${id}/snapshots`)).status).toBe(404);
});

test('the findings of an event link to their pages, and their facts to what they name', async () => {
  const payment = unique('pay');
  await apply(paymentEvent({ payment_id: payment, amount: 'much' }));
  const [finding] = await db.query<{ id: number; subject: string }>(
    `select id, subject from findings where detail->>'resource' = $1`,
    [`payment:${payment}`],
  );
  const event = await viewer.get(`/inbox/${finding?.subject.replace('event:', '')}`);
  expect(event.html).toContain(`href="/findings/${finding?.id}"`);
  const { html } = await viewer.get(`/findings/${finding?.id}`);
  expect(html).toContain(`href="/search?q=${payment}"`);
});

test('a message is found by the id that an alert names', async () => {
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     values ('msg_named', 'log', 'alert', '{"kind":"test","at":"2026-11-01T00:00:00.000Z"}',
             'delivered', now(), now(), now())`,
  );
  const { status, location } = await viewer.get('/messages/msg_named');
  expect(status).toBe(303);
  expect((await viewer.get(location ?? '')).html).toContain('msg_named');
  expect((await viewer.get('/messages/msg_other')).status).toBe(404);
});

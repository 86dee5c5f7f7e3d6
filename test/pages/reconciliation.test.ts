/** The pages of reconciliation: the calendar, runs, and what can be started and paused there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import { finishRun, insertRun, writeStep } from '../../src/reconcile/store/runs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
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

/** A run over the last three days that found two differences and repaired one of them. */
async function storeRun(): Promise<number> {
  const [{ now } = { now: new Date() }] = await db.query<{ now: Date }>('select now()');
  const fromAt = new Date(now.getTime() - 3 * DAY_MS);
  const run = await insertRun(db, {
    stream: 'refunds',
    mode: 'full',
    cause: 'night',
    isDryRun: false,
    fromAt,
    toAt: now,
  });
  await writeStep(db, run, {
    positionAt: now,
    windows: 1,
    requests: 4,
    rowsCompared: 17,
    rowsCounted: 0,
    found: 2,
    repaired: 1,
    missed: 3,
    differences: [{ class: 'missing_local', subject: 'refund:"><b>', outcome: 'remaining' }],
  });
  await finishRun(db, { ...run, windows: 1 }, undefined);
  return run.id;
}

test('the calendar shows the days that a run compared, and the run its differences', async () => {
  expect((await viewer.get('/reconciliation')).html).not.toContain('>different</span>');
  const id = await storeRun();
  const { status, html } = await viewer.get('/reconciliation?stream=refunds');
  expect(status).toBe(200);
  // Two whole days, and two in part.
  expect(html.match(/bad">different<\/span><small> at /g)).toHaveLength(2);
  expect(html.match(/bad">different<\/span><small> in part/g)).toHaveLength(2);
  expect(html).toContain(`href="/reconciliation/${id}"`);
  expect((await viewer.get('/reconciliation?stream=payouts')).html).not.toContain(
    `href="/reconciliation/${id}"`,
  );
  const page = await viewer.get(`/reconciliation/${id}`);
  expect(page.html).toContain('missing_local');
  expect(page.html).not.toContain('"><b>');
});

test('a run under way shows how much of its span is compared, and the list the rate budget', async () => {
  const [{ now } = { now: new Date() }] = await db.query<{ now: Date }>('select now()');
  const run = await insertRun(db, {
    stream: 'payouts',
    mode: 'full',
    cause: 'operator',
    isDryRun: true,
    fromAt: new Date(now.getTime() - 4 * DAY_MS),
    toAt: now,
  });
  const counts = { windows: 1, requests: 1, rowsCompared: 1, rowsCounted: 0, missed: 0 };
  const positionAt = new Date(now.getTime() - DAY_MS);
  await writeStep(db, run, { ...counts, positionAt, found: 2, repaired: 1, differences: [] });
  const { html } = await viewer.get(`/reconciliation/${run.id}`);
  expect(html).toContain('75 % of the span is compared: 2 found, 1 repaired.');
  expect((await viewer.get('/reconciliation')).html).toContain(
    'compares payouts (dry run): 75 % done, 2 found.',
  );
  await finishRun(db, { ...run, windows: 1 }, undefined);
  expect((await viewer.get('/reconciliation')).html).toContain('no limit yet');
  await db.query('update rate_budget set requests_limit = 80, remaining = 60, reset_at = null');
  const open = await openPages(tallyhook);
  expect((await open.get('/reconciliation?stream=payouts')).html).toContain('20 of 80 requests');
});

test('changes with webhooks that may still arrive are not presented as reported', async () => {
  expect((await viewer.get('/reconciliation')).html).not.toContain('may still arrive');
  await db.query(
    `insert into awaited_webhooks (kind, resource_id, stream, changed_at)
     values ('refund', 'ref_1', 'refunds', now())`,
  );
  expect((await viewer.get('/reconciliation')).html).toContain(
    'The webhook of 1 repaired change may still arrive.',
  );
});

test('a person stops a run on its page, and a second time is refused', async () => {
  const { id } = await insertRun(db, {
    stream: 'disputes',
    mode: 'full',
    cause: 'night',
    isDryRun: false,
    fromAt: new Date(0),
    toAt: new Date(DAY_MS),
  });
  expect((await viewer.get(`/reconciliation/${id}`)).html).toContain(
    `action="/reconciliation/${id}/stop"`,
  );
  const stopped = await viewer.post(`/reconciliation/${id}/stop`, {});
  expect(stopped.status).toBe(303);
  const { html } = await viewer.get(`/reconciliation/${id}`);
  expect(html).toContain('stopped by admin');
  expect(html).not.toContain('% of the span is compared');
  expect((await viewer.post(`/reconciliation/${id}/stop`, {})).status).toBe(409);
});

test('missed webhooks are shown by day and list, with the use of the rate limit by background work', async () => {
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, from_at, to_at, position_at, missed, started_at)
     select stream, 'full', cause, is_dry_run, now(), now(), now(), missed, now() - age
       from (values ('payouts', 'tail', false, 5, interval '3 days'),
                    ('payouts', 'tail', false, 2, interval '3 days'),
                    ('payouts', 'tail', true, 90, interval '3 days'),
                    ('payouts', 'operator', false, 90, interval '3 days'),
                    ('payouts', 'tail', false, 90, interval '40 days'))
         as r (stream, cause, is_dry_run, missed, age)`,
  );
  await db.query(
    `update rate_budget set background_taken = 11, background_from = clock_timestamp()`,
  );
  const { html } = await viewer.get('/reconciliation?stream=payouts');
  expect(html).toMatch(/Missed for payouts<\/h3><p class="amount">7<\/p>/);
  expect(html).toMatch(/<title>\d{4}-\d\d-\d\d: 7<\/title>/);
  expect(html).toContain('Background work sent 11 in its current minute.');
});

test('an unknown run is a page that states why', async () => {
  const { status, html } = await viewer.get('/reconciliation/999999');
  expect(status).toBe(404);
  expect(html).toContain('retention removed it');
});

test('runs are started with the name of the person in the audit log', async () => {
  const { status, location } = await viewer.post('/reconciliation/start', {
    stream: 'payouts',
    mode: 'totals',
    from: '2026-01-02T03:04',
    to: '',
    dry_run: 'yes',
  });
  expect({ status, location }).toMatchObject({ status: 303 });
  const rows = await db.query<{ detail: object }>(
    `select detail from audit where action = 'reconciliation.start' order by id limit 1`,
  );
  expect(rows[0]?.detail).toMatchObject({
    mode: 'totals',
    is_dry_run: true,
    from: '2026-01-02T03:04:00.000Z',
  });
});

test('a span that ends before it begins is refused with the reason', async () => {
  const { status, html } = await viewer.post('/reconciliation/start', {
    stream: 'all',
    mode: 'full',
    from: '2026-01-02T03:04',
    to: '2026-01-01T00:00',
  });
  expect(status).toBe(400);
  expect(html).toContain('must be before to');
});

test('a pause shows who paused and why, and ends', async () => {
  expect((await viewer.post('/reconciliation/pause', { reason: '' })).status).toBe(400);
  expect((await viewer.post('/reconciliation/pause', { reason: 'rate limit' })).status).toBe(303);
  expect((await viewer.get('/reconciliation')).html).toContain('are paused by admin: rate limit');
  expect((await viewer.post('/reconciliation/pause', { reason: 'again' })).status).toBe(409);
  expect((await viewer.post('/reconciliation/resume', {})).status).toBe(303);
  expect((await viewer.get('/reconciliation')).html).not.toContain('are paused by');
});

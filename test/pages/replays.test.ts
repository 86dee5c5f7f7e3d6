/** Replays of many events: the filter of the inbox, the plan, the run with its progress, and the stop. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { continueReplays, replayDeadAs } from '../../src/actions/replayRuns.ts';
import { claimReplayRun, releaseReplayRun } from '../../src/ledger/inbox/store/replayRuns.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

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

/** What the scheduler does. @returns the numbers that it enqueued */
async function workOnReplays(on: Database = db): Promise<readonly number[]> {
  const enqueued: number[] = [];
  await continueReplays({
    db: on,
    enqueue: (numbers) => {
      enqueued.push(...numbers);
      return Promise.resolve();
    },
    signal: new AbortController().signal,
  });
  return enqueued;
}

/** @returns the inbox number of a dead event */
async function die(): Promise<number> {
  const [id = 0] = await receive(db, [paymentEvent({})]);
  await testApplier(db).markDead(id, 5, 'connection reset');
  return id;
}

/** @returns the path of the new run */
async function start(form: Readonly<Record<string, string | readonly string[]>>): Promise<string> {
  const fields = { reason: 'the cause is fixed', confirmed: 'yes', ...form };
  const { status, location } = await admin.post('/replays/start', fields);
  expect(status).toBe(303);
  return (location ?? '').replace(/\?.*/, '');
}

test('the events of a filter are counted, confirmed and replayed, with a page that shows how far it is', async () => {
  const dead = [await die(), await die(), await die()];
  const list = await admin.get('/inbox?state=dead');
  expect(list.html).toContain('href="/replays/new?state=dead"');
  expect((await admin.get('/replays/new?state=dead')).html).toContain(
    '3 events will be applied again.',
  );
  const refused = await reader.post('/replays/start', {
    state: 'dead',
    reason: 'x',
    confirmed: 'yes',
  });
  expect(refused.status).toBe(403);
  expect((await admin.post('/replays/start', { state: 'dead', reason: 'x' })).status).toBe(400);

  const path = await start({ state: 'dead' });
  expect((await admin.get(path)).html).toContain('0 of 3 events');
  expect(await workOnReplays()).toEqual(dead.toReversed());
  const { html } = await reader.get(path);
  expect(html).toContain('3 of 3 events: 3 replayed, 0 refused.');
  expect(html).toContain('>done<');
  expect((await admin.get('/inbox?state=dead')).html).toContain('No event matches');
  expect(
    await db.query(
      `select action, subject_id, reason, detail from audit
        where action in ('replay.start', 'event.replay')`,
    ),
  ).toEqual([
    {
      action: 'replay.start',
      subject_id: path.split('/').at(-1),
      reason: 'the cause is fixed',
      detail: { filter: { state: 'dead' }, planned: 3, isPlannedComplete: true },
    },
  ]);
});

/** A process that is killed when a step of a replay is made, before that is recorded. */
function killedBeforeItRecords(): Database {
  const query = async <Row extends object>(sql: string, values?: readonly unknown[]) => {
    if (sql.includes('done_at = statement_timestamp()')) throw new Error('killed');
    return await db.query<Row>(sql, values);
  };
  return { ...db, query };
}

/** Inbox numbers of the list of a replay, newest first. */
async function chosenBy(path: string): Promise<readonly number[]> {
  const { html } = await reader.get(`/inbox?replay=${path.split('/').at(-1)}`);
  // A further filter keeps it.
  expect(html).toContain(`<input type="hidden" name="replay" value="${path.split('/').at(-1)}"`);
  return [...html.matchAll(/<tr data-key="(\d+)"/g)].map(([, number]) => Number(number));
}

test('a killed process leaves the trail of what it replayed, and the next one repeats exactly that', async () => {
  const dead = [await die(), await die()];
  const path = await start({ state: 'dead' });
  await expect(workOnReplays(killedBeforeItRecords())).rejects.toThrow('killed');
  // They are pending now: the filter alone would no longer find them.
  expect((await admin.get('/inbox?state=dead')).html).toContain('No event matches');
  expect(await chosenBy(path)).toEqual(dead.toReversed());
  expect((await admin.get(path)).html).toContain('0 of 2 events');

  const late = await die();
  expect(await workOnReplays()).toEqual(dead.toReversed());
  expect((await admin.get(path)).html).toContain('2 of 2 events: 2 replayed, 0 refused.');
  expect(await chosenBy(path)).toEqual(dead.toReversed());
  expect((await admin.get('/inbox?state=dead')).html).toContain(`href="/inbox/${late}"`);
  await admin.post(`/inbox/${late}/replay`, {});
});

test('the order of a replayed event shows the replay with its reason', async () => {
  const orderId = unique('ord');
  const [event = 0] = await receive(db, [paymentEvent({ orderId })]);
  await testApplier(db).applyOne(event);
  const path = await start({ event: String(event), reason: 'a clock was wrong' });
  await workOnReplays();
  const { html } = await admin.get(`/orders/${orderId}`);
  expect(html).toContain('a clock was wrong');
  expect(html).toContain(`replay ${path.split('/').at(-1)}`);
});

test('checked events are replayed, and no others', async () => {
  const [one, , three] = [await die(), await die(), await die()];
  const query = `event=${one}&event=${three}`;
  expect((await admin.get(`/replays/new?${query}`)).html).toContain('Replay 2 events');
  await start({ event: [String(one), String(three)] });
  expect(await workOnReplays()).toEqual([three, one]);
});

test('a run of several steps replays each event once, and none that arrives meanwhile', async () => {
  const type = `test_${unique('many').replaceAll(/\W/g, '_').toLowerCase()}`;
  await db.query(
    `insert into webhook_events (event_id, event_type, body_sha256, received_at)
     select $1 || '_' || n, $1, sha256(convert_to($1 || n, 'UTF8')), now() from generate_series(1, 630) n`,
    [type],
  );
  const path = await start({ type });
  await db.query(
    `insert into webhook_events (event_id, event_type, body_sha256, received_at)
     values ($1 || '_late', $1, sha256(convert_to($1 || 'late', 'UTF8')), now())`,
    [type],
  );
  expect(await workOnReplays()).toEqual([]);
  const { html } = await admin.get(path);
  // They have no bodies, so each of them is refused; the first 100 are listed.
  expect(html).toContain('630 of 630 events: 0 replayed, 630 refused.');
  const [row] = await db.query<{ refused: number }>(
    `select count(r)::integer as refused
       from replay_runs, jsonb_array_elements(refusals) r where filter ->> 'type' = $1`,
    [type],
  );
  expect(row?.refused).toBe(100);

  // The list of what it chose: its pages have each event once, newest first, with any other filter.
  const chosen = await db.query<{ id: number }>(
    `select id from webhook_events where event_type = $1 and event_id not like '%late' order by id desc`,
    [type],
  );
  const numbers = chosen.map(({ id }) => id);
  expect(numbers).toHaveLength(630);
  const run = path.split('/').at(-1);
  expect(await listed(`replay=${run}`)).toEqual(numbers);
  expect(await listed(`replay=${run}&state=applied`)).toEqual(numbers);
  expect(await listed(`replay=${run}&state=dead`)).toEqual([]);
  expect(await listed(`replay=${run}&type=other_type`)).toEqual([]);
});

/** Inbox numbers of all pages of a list. */
async function listed(query: string): Promise<readonly number[]> {
  const numbers: number[] = [];
  let path: string | undefined = `/inbox?${query}`;
  while (path !== undefined) {
    const { html }: { readonly html: string } = await admin.get(path);
    numbers.push(...[...html.matchAll(/<tr data-key="(\d+)"/g)].map(([, id]) => Number(id)));
    const [, next] = /href="(\/inbox\?[^"]*cursor=[^"]*)"/.exec(html) ?? [];
    path = next?.replaceAll('&amp;', '&');
  }
  return numbers;
}

test('an order leaves its own of the events that a replay has chosen', async () => {
  const orderId = unique('ord');
  const [one = 0, two = 0] = await receive(db, [paymentEvent({ orderId }), paymentEvent({})]);
  for (const event of [one, two]) await testApplier(db).applyOne(event);
  const both = await start({ event: [String(one), String(two)] });
  const other = await start({ event: String(two) });
  await workOnReplays();
  const run = (path: string) => path.split('/').at(-1);
  expect(await listed(`replay=${run(both)}`)).toEqual([two, one]);
  expect(await listed(`replay=${run(both)}&order=${orderId}`)).toEqual([one]);
  expect(await listed(`replay=${run(other)}&order=${orderId}`)).toEqual([]);
});

test('a run that is stopped replays nothing more', async () => {
  await die();
  const path = await start({ state: 'dead' });
  expect((await reader.post(`${path}/stop`, {})).status).toBe(403);
  expect((await admin.post(`${path}/stop`, {})).status).toBe(303);
  expect((await admin.post(`${path}/stop`, {})).status).toBe(409);
  expect(await workOnReplays()).toEqual([]);
  expect((await admin.get(path)).html).toContain('Stopped by');
  expect((await admin.get('/replays')).html).toContain(`href="${path}"`);
});

test('one process at a time works on a run, and another one continues it', async () => {
  const dead = await die();
  await start({ event: String(dead) });
  const claimed = await claimReplayRun(db);
  expect(claimed).toBeDefined();
  expect(await workOnReplays()).toEqual([]);
  await releaseReplayRun(db, claimed?.id ?? 0);
  expect(await workOnReplays()).toEqual([dead]);
});

test('a claim that ends later than any can was stored under a wrong clock, and prevents none', async () => {
  const dead = await die();
  await start({ event: String(dead) });
  await db.query(
    `update replay_runs set claimed_until = now() + interval '2 hours' where state = 'running'`,
  );
  expect(await workOnReplays()).toEqual([dead]);
});

test('a run that a command carries out is its own, and is continued if the command ends', async () => {
  const dead = [await die(), await die()];
  const actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@host' } as const;
  const stop = new Error('the command ended');
  const once = vi.fn<(numbers: readonly number[]) => Promise<void>>().mockResolvedValue();
  const done = await replayDeadAs({ db, enqueue: once }, actor, 'fixed');
  // Others may be dead from before.
  expect(done.replayed.slice(0, 2)).toEqual(dead.toReversed());
  expect(done).toMatchObject({ refused: [], notEnqueued: undefined, isComplete: true });
  expect(once).toHaveBeenCalledTimes(1);

  const again = await die();
  const ending = failingAfter(db, stop);
  await expect(replayDeadAs({ db: ending, enqueue: once }, actor, 'fixed')).rejects.toBe(stop);
  // It is claimed for a minute.
  expect(await workOnReplays()).toEqual([]);
  await db.query(`update replay_runs set claimed_until = '-infinity' where state = 'running'`);
  expect(await workOnReplays()).toEqual([again]);
});

/** A database that fails once the first step is chosen. */
function failingAfter(on: Database, error: Error): Database {
  return {
    ...on,
    transaction: (work) =>
      on.transaction(async (tx) => {
        const steps = await tx.query(
          `select from replay_steps s join replay_runs r on r.id = s.run_id where r.state = 'running'`,
        );
        if (steps.length > 0) throw error;
        return await work(tx);
      }),
  };
}

test('the inbox is filtered by type, order and time', async () => {
  const [orderId, paymentId] = [unique('ord'), unique('pay')];
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, orderId }),
    refundEvent(paymentId),
  ]);
  const [refund] = await db.query<{ id: number }>(
    `select max(id) as id from webhook_events where event_type = 'refund_succeeded'`,
  );
  const link = `href="/inbox/${refund?.id}"`;
  const shows = async (query: string) => (await admin.get(`/inbox?${query}`)).html.includes(link);
  expect(await shows('type=refund_succeeded')).toBe(true);
  expect(await shows('type=payment_succeeded')).toBe(false);
  expect(await shows(`order=${orderId}`)).toBe(true);
  expect(await shows('order=ord_unknown')).toBe(false);
  expect(await shows('from=2020-01-01T00:00')).toBe(true);
  expect(await shows('to=2020-01-01T00:00')).toBe(false);
  expect((await admin.get('/inbox?from=yesterday')).status).toBe(400);
});

test('the events of a filter are counted up to 10,000', async () => {
  const type = `test_${unique('count').replaceAll(/\W/g, '_').toLowerCase()}`;
  await db.query(
    `insert into webhook_events (event_id, event_type, body_sha256, received_at)
     select $1 || '_' || n, $1, sha256(convert_to($1 || n, 'UTF8')), now()
       from generate_series(1, 10001) n`,
    [type],
  );
  const { html } = await admin.get(`/replays/new?type=${type}`);
  expect(html).toContain('10000 events or more will be applied again.');
});

test('a request takes a thousand inbox numbers, however long they are', async () => {
  const numbers = Array.from({ length: 1_000 }, (_, n) => Number.MAX_SAFE_INTEGER - n);
  const body = { numbers, reason: 'é'.repeat(500) };
  const { status } = await createApi(tallyhook).post('/api/v1/replays', body);
  expect(status).toBe(202);
});

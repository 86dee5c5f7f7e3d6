/**
 * Requests for erasure over the admin API, and the process that carries them out: a request is done by
 * whichever process claims it, and one that was interrupted is continued without a person.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { continueErasures } from '../../src/actions/continueErasures.ts';
import { eraseAs, planErasure, requestErasureAs } from '../../src/actions/eraseData.ts';
import type { Actor } from '../../src/audit/domain/actor.ts';
import type { ErasureSubject } from '../../src/erasure/domain/subjects.ts';
import { holdErasure } from '../../src/erasure/holdErasure.ts';
import {
  claimErasure,
  claimNextErasure,
  insertErasure,
  lockErasureRequests,
  releaseErasure,
  renewErasure,
} from '../../src/erasure/store/erasures.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { type Api, createApi } from '../support/api.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { createPeople, findWords, type TestPerson } from '../support/people.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
const ADA: Actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@test' };
const PROCESS: Actor = { kind: 'process', name: 'tallyhook', role: 'process', origin: 'test' };

let db: TestDatabase;
let running: TestTallyhook | undefined;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  await db.drop();
});

async function fill(count: number): Promise<readonly TestPerson[]> {
  const { people, bodies } = createPeople(count, seededRandom(SEED));
  await testApplier(db).applyBatch(await receive(db, bodies));
  return people;
}

async function startApi(...roles: readonly ('console' | 'scheduler')[]): Promise<Api> {
  running = await startTallyhook({ db, roles });
  return createApi(running, await createTestToken(db, { name: 'grace', role: 'admin' }));
}

const wordsOf = (people: readonly TestPerson[]) => new Set(people.flatMap(({ words }) => words));
const customersOf = (people: readonly TestPerson[]) =>
  people.map(({ customerId }): ErasureSubject => ({ kind: 'customer', id: customerId }));

const carryOut = (signal = new AbortController().signal) =>
  continueErasures({ db, log: silentLog, actor: PROCESS, signal });

async function expectErased(people: readonly TestPerson[]): Promise<void> {
  expect([...(await findWords(db, wordsOf(people)))]).toEqual([]);
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
}

test('the same request that is sent several times at once is one, and is claimed by one process', async () => {
  const [person] = await fill(1);
  if (!person) throw new Error('no people');
  const subjects = customersOf([person]);
  const requested = await Promise.all(
    Array.from({ length: 5 }, () => requestErasureAs({ db }, ADA, { subjects, reason: 'left' })),
  );
  expect(requested.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(await db.query('select from erasures')).toHaveLength(1);
  await carryOut();
  const plan = await planErasure({ db }, subjects);
  const erased = await Promise.all(
    [1, 2, 3].map(() => eraseAs({ db }, ADA, { plan, reason: 'left' })),
  );
  const outcomes = erased.map(({ outcome }) => outcome);
  expect(outcomes).toContain('erased');
  expect(outcomes.filter((outcome) => outcome !== 'erased' && outcome !== 'busy')).toEqual([]);
  expect(await db.query(`select from erasures where state = 'running'`)).toEqual([]);
  await expectErased([person]);
});

test('a request waits for one that is being written, and is the same', async () => {
  const subjects = [{ kind: 'customer', id: 'cus_same' }] as const;
  let second: { readonly isNew: boolean } | undefined;
  const requesting = await db.transaction(async (tx) => {
    await lockErasureRequests(tx);
    const first = { reason: 'left', requestedBy: 'grace', holder: undefined };
    await insertErasure(tx, { ...first, subjects: ['customer:cus_same'] });
    const promise = requestErasureAs({ db }, ADA, { subjects, reason: 'left' }).then(
      (requested) => {
        second = requested;
      },
    );
    await waitFor('the second request to wait, or to be written', async () => {
      const waiting = await db.query(
        `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      );
      return waiting.length > 0 || second !== undefined;
    });
    return { promise };
  });
  await requesting.promise;
  expect(second).toMatchObject({ isNew: false });
  expect(await db.query('select from erasures')).toHaveLength(1);
});

test('a request has 50 subjects, however long their ids are, and a larger body is refused with the limit', async () => {
  const api = await startApi('console');
  const id = (place: number) => `${place}`.padEnd(255, 'ж');
  const subjects = Array.from({ length: 50 }, (_, place) => ({ kind: 'order', id: id(place) }));
  const wanted = { subjects, reason: 'left', confirm: true };
  expect((await api.post('/api/v1/erasures', wanted)).status).toBe(202);
  const large = { ...wanted, reason: 'x'.repeat(130 * 1024) };
  const refused = await api.post('/api/v1/erasures', large);
  expect([refused.status, refused.body.error.message]).toEqual([
    413,
    'The body is larger than 131072 bytes. Nothing was done. Send less in one request.',
  ]);
});

test('the scheduler carries out a request of the API, which shows its plan before and its proof after', async () => {
  const [person, other] = await fill(2);
  if (!person || !other) throw new Error('no people');
  const api = await startApi('console', 'scheduler');
  const subjects = [...customersOf([person]), { kind: 'order', id: 'ord_unknown' }];

  const planned = await api.post('/api/v1/erasures/plan', { subjects });
  expect(planned).toMatchObject({
    status: 200,
    body: { pending_events: [], dead_events: [], unknown_subjects: ['order:ord_unknown'] },
  });
  expect(planned.body.resources.payment).toBe(2);
  expect((await findWords(db, wordsOf([person]))).size).toBeGreaterThan(0);
  expect(await db.query('select from erasures')).toEqual([]);

  const unconfirmed = await api.post('/api/v1/erasures', { subjects, reason: 'by mail' });
  expect(unconfirmed.status).toBe(400);
  const input = { subjects, reason: 'by mail', confirm: true };
  const first = await api.post('/api/v1/erasures', input);
  expect(first).toMatchObject({
    status: 202,
    body: { state: 'running', requested_by: 'grace', proof: null, remaining: null },
  });
  const { number } = first.body;
  expect(await api.post('/api/v1/erasures', input)).toMatchObject({
    status: 200,
    body: { number },
  });

  // Up to a minute, in which a query costs less than the API.
  await waitFor('the scheduler to erase', async () => {
    const [erasure] = await db.query<{ state: string }>('select state from erasures');
    return erasure?.state === 'done';
  });
  const { body } = await api.get(`/api/v1/erasures/${number}`);
  expect(body).toMatchObject({
    bodies: planned.body.events,
    remaining: 0,
    proof: { places: [], events: [], unreadable_tables: [] },
  });
  expect(JSON.stringify(body)).not.toContain(`customer:${person.customerId}`);
  expect((await api.get('/api/v1/erasures')).body).toEqual({ erasures: [body], next_cursor: null });
  expect((await api.get('/api/v1/erasures/4711')).status).toBe(404);
  await expectErased([person]);
  expect((await findWords(db, wordsOf([other]))).size).toBeGreaterThan(0);
  const entries = await db.query(
    `select action, actor_kind as kind, actor_name as name from audit
      where subject_kind = 'erasure' order by id`,
  );
  expect(entries).toMatchObject([
    { action: 'erasure.request', kind: 'token', name: 'grace' },
    { action: 'erasure.finish', kind: 'process' },
  ]);
});

test('a request that lost its process is continued when its claim ends', async () => {
  const people = await fill(3);
  const subjects = customersOf(people);
  const { request } = await requestErasureAs({ db }, ADA, { subjects, reason: 'by mail' });
  const id = request?.id ?? 0;
  // The process that claimed it does not renew its claim.
  expect(await claimNextErasure(db, randomUUID())).toBe(id);
  expect(await carryOut()).toBe(0);
  const plan = await planErasure({ db }, subjects);
  const busy = await eraseAs({ db }, ADA, { plan, reason: 'again' });
  expect(busy).toMatchObject({ outcome: 'busy', id, request: { state: 'running' } });
  expect((await findWords(db, wordsOf(people))).size).toBeGreaterThan(0);

  await db.query(`update erasures set claimed_until = now() - interval '1 second'`);
  expect(await carryOut()).toBe(1);
  await expectErased(people);
  expect(await carryOut()).toBe(0);
});

test('a claim is renewed by its holder only, and a time far ahead prevents none', async () => {
  const { request } = await requestErasureAs({ db }, ADA, {
    subjects: [{ kind: 'order', id: 'ord_1' }],
    reason: 'by mail',
  });
  const id = request?.id ?? 0;
  const [first, second] = [randomUUID(), randomUUID()];
  expect(await claimErasure(db, { id, holder: first })).toBe(true);
  expect(await claimErasure(db, { id, holder: second })).toBe(false);
  expect(await renewErasure(db, { id, holder: second })).toBe(false);
  expect(await renewErasure(db, { id, holder: first })).toBe(true);
  await db.query(`update erasures set claimed_until = now() + interval '1 year'`);
  expect(await claimNextErasure(db, second)).toBe(id);
  expect(await renewErasure(db, { id, holder: first })).toBe(false);

  // During the pause after a try, a person may continue it, and no schedule does.
  await releaseErasure(db, { id, holder: second }, 60_000);
  expect(await claimNextErasure(db, first)).toBeUndefined();
  expect(await claimErasure(db, { id, holder: first })).toBe(true);
});

test('a process that lost its claim stops, and leaves the claim to the process that has it', async () => {
  const { request } = await requestErasureAs({ db }, ADA, {
    subjects: [{ kind: 'order', id: 'ord_1' }],
    reason: 'by mail',
  });
  const [id, first, second] = [request?.id ?? 0, randomUUID(), randomUUID()];
  await claimErasure(db, { id, holder: first });
  await db.query('update erasures set claimed_by = $1', [second]);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const held = holdErasure({ db }, { id, holder: first }, async (signal) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    signal.throwIfAborted();
    return { outcome: 'waiting', pending: [] };
  });
  vi.advanceTimersByTime(10_000);
  await expect(held).rejects.toThrow('another process has claimed the erasure');
  expect(await renewErasure(db, { id, holder: second })).toBe(true);
}, 60_000);

test('a request that waits for events is due again after a pause, and others are not held up', async () => {
  const { people, bodies } = createPeople(2, seededRandom(SEED));
  const ids = await receive(db, bodies);
  for (const person of people) {
    await requestErasureAs({ db }, ADA, { subjects: customersOf([person]), reason: 'by mail' });
  }
  expect(await carryOut()).toBe(0);
  const paused = await db.query(
    `select from erasures where state = 'running' and claimed_by is null and claimed_until > now()`,
  );
  expect(paused).toHaveLength(2);

  await testApplier(db).applyBatch(ids);
  expect(await carryOut(), 'the pause is not over').toBe(0);
  await db.query('update erasures set claimed_until = now()');
  expect(await carryOut()).toBe(2);
  await expectErased(people);
});

test('a shutdown stops between steps, and the next process continues at once', async () => {
  const people = await fill(2);
  await requestErasureAs({ db }, ADA, { subjects: customersOf(people), reason: 'by mail' });
  const stopping = new AbortController();
  const late: typeof db = Object.create(db, {
    session: {
      value: (work: Parameters<typeof db.session>[0]) => {
        stopping.abort();
        return db.session(work);
      },
    },
  });
  const stopped = continueErasures({
    db: late,
    log: silentLog,
    actor: PROCESS,
    signal: stopping.signal,
  });
  expect(await stopped).toBe(0);
  expect((await findWords(db, wordsOf(people))).size).toBeGreaterThan(0);
  expect(await carryOut()).toBe(1);
  await expectErased(people);
});

test('a body with thousands of values is erased as a whole', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => ({ email: `w${n}q@example.org` }));
  const [person] = await fill(1);
  const [paymentId = ''] = person?.paymentIds ?? [];
  const body = {
    event_id: 'evt_many',
    event_type: 'payment_succeeded',
    merchant_id: MERCHANT_ID,
    content: { type: 'payment_details', object: { payment_id: paymentId, status: 'succeeded' } },
    metadata: { many },
  };
  await testApplier(db).applyBatch(await receive(db, [Buffer.from(JSON.stringify(body))]));
  await db.query('create table notes (body text)');
  await db.query(`insert into notes values ('mail to w4999q@example.org')`);
  const subjects = [{ kind: 'payment', id: paymentId } as const];
  await requestErasureAs({ db }, ADA, { subjects, reason: 'by mail' });
  expect(await carryOut()).toBe(1);
  expect(await db.query('select body from notes')).toEqual([{ body: 'mail to [erased]' }]);
});

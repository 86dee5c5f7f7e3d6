/**
 * Erasing people: nothing of them is left in any column of the database, and the ledger is the same.
 * TEST_SEED repeats a run.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eraseAs, planErasure } from '../../src/actions/eraseData.ts';
import type { Actor } from '../../src/audit/domain/actor.ts';
import { recordAudit } from '../../src/audit/recordAudit.ts';
import type { ErasureSubject } from '../../src/erasure/domain/subjects.ts';
import { readSummedTo } from '../../src/ledger/read/store/statementSums.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID } from '../support/events.ts';
import { applyEach, receive, receiveEach, testApplier } from '../support/ledger.ts';
import {
  createPeople,
  digestLedger,
  findWordSets,
  findWords,
  type TestPerson,
  type WordPlaces,
} from '../support/people.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { sumEverything } from '../support/sums.ts';

const SEED = testSeed();
const ACTOR: Actor = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@test' };

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function fill(count: number): Promise<readonly TestPerson[]> {
  const { people, bodies } = createPeople(count, seededRandom(SEED), {
    ordersEach: ORDERS_EACH,
  });
  const applier = testApplier(db);
  for (let start = 0; start < bodies.length; start += 200) {
    const ids = await receive(db, bodies.slice(start, start + 200));
    for (let at = 0; at < ids.length; at += 50) await applier.applyBatch(ids.slice(at, at + 50));
  }
  return people;
}

async function expectVerified(): Promise<void> {
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  expect(report.passed).toBe(true);
}

async function eraseAll(subjects: readonly ErasureSubject[], reason = 'a request') {
  const plan = await planErasure({ db }, subjects);
  return { plan, erased: await eraseAs({ db }, ACTOR, { plan, reason }) };
}

const wordsOf = (people: readonly TestPerson[]) => new Set(people.flatMap(({ words }) => words));
const customersOf = (people: readonly TestPerson[]) =>
  people.map(({ customerId }): ErasureSubject => ({ kind: 'customer', id: customerId }));

/** Copies of a person's data wherever a program or a person may have left them. */
async function leaveCopies({
  fullName,
  email,
  phone,
  paymentIds,
  orderIds,
}: TestPerson): Promise<void> {
  const [paymentId = ''] = paymentIds;
  await recordAudit(db, {
    actor: ACTOR,
    action: 'finding.accept',
    subject: { kind: 'payment', id: paymentId },
    reason: `${fullName} called from ${phone}`,
    detail: { note: `${fullName}`, subject: `payment:${paymentId}` },
  });
  await db.query(
    `insert into alerts (rule, subject, severity, sentence, next_step, detail)
     values ('test', $1, 'warning', $2, 'look', $3)`,
    [`payment:${paymentId}`, `the card of ${fullName} expired`, JSON.stringify({ email })],
  );
  await db.query(
    `insert into messages (id, channel, kind, content, next_attempt_at, created_at, last_error)
     values ($1, 'mail', 'alert', $2, now(), now(), $3)`,
    [`msg_${paymentId}`, JSON.stringify({ text: `for ${email}` }), `no mailbox ${email}`],
  );
  await db.query(`insert into findings (class, subject, detail) values ('test', $1, $2)`, [
    `order:order:${orderIds[0]}`,
    JSON.stringify({ who: fullName, amount: 12 }),
  ]);
  await db.query('create schema if not exists elsewhere');
  await db.query(
    `create table if not exists elsewhere.notes (id int generated always as identity primary key,
       short varchar(200), body text, doc json, raw bytea)`,
  );
  await db.query('insert into elsewhere.notes (short, body, doc, raw) values ($1, $2, $3, $4)', [
    `to ${fullName.toUpperCase()}`,
    `mail=${encodeURIComponent(email)}`,
    JSON.stringify([phone]),
    Buffer.from(fullName),
  ]);
}

/** scripts/erase-many-people.sh erases 1,000 people of 50,000, with two orders each. */
const CUSTOMERS = Number(process.env.TEST_CUSTOMERS ?? 300);
const ERASED = Number(process.env.TEST_ERASED ?? 30);
const ORDERS_EACH = 2;
/** How many of those who stay are searched for, besides those with copies. */
const SAMPLE = 1_000;

/** Prints what a run by hand is for: figures. */
function createReport() {
  const isByHand = process.env.TEST_CUSTOMERS !== undefined;
  let since = performance.now();
  return (step: string, figures: Readonly<Record<string, unknown>> = {}) => {
    const now = performance.now();
    if (isByHand) {
      process.stdout.write(
        `${step}: ${((now - since) / 1_000).toFixed(1)} s ${JSON.stringify(figures)}\n`,
      );
    }
    since = now;
  };
}

const NONE: WordPlaces = new Map();
const sum = (places: WordPlaces) => [...places.values()].reduce((total, rows) => total + rows, 0);

test(`${ERASED} people of ${CUSTOMERS} are erased from every column, and the ledger stays (seed ${SEED})`, async () => {
  const report = createReport();
  const people = await fill(CUSTOMERS);
  const [rows] = await db.query('select count(*) as events from webhook_events');
  report('fill', { ...rows, customers: CUSTOMERS, orders: CUSTOMERS * ORDERS_EACH });
  const isErased = (number: number) => number % Math.floor(CUSTOMERS / ERASED) === 7;
  const erasedPeople = people.filter((_, number) => isErased(number));
  const others = people.filter((_, number) => !isErased(number));
  expect(erasedPeople.length).toBe(ERASED);
  for (const person of [...erasedPeople, ...others.slice(0, 50)]) await leaveCopies(person);
  const random = seededRandom(SEED);
  const staying = [
    ...others.slice(0, 50),
    ...others.slice(50).filter(() => random() < SAMPLE / others.length),
  ];
  const words = [wordsOf(erasedPeople), wordsOf(staying)];
  await sumEverything(db);
  const ledgerBefore = await digestLedger(db);
  report('digest of the ledger', { ledgerBefore });
  const [erasedBefore = NONE, stayingBefore = NONE] = await findWordSets(db, words);
  report('search before', { erased: sum(erasedBefore), staying: sum(stayingBefore) });
  expect(erasedBefore.size).toBeGreaterThan(8);
  expect(stayingBefore.size).toBeGreaterThan(8);

  const plan = await planErasure({ db }, customersOf(erasedPeople));
  report('plan', { events: plan.events, values: plan.values, resources: plan.resources });
  const erased = await eraseAs({ db }, ACTOR, { plan, reason: 'request by mail' });
  report('erasure and proof', { bodies: erased.request?.bodies, texts: erased.request?.texts });

  expect(plan.unknown).toEqual([]);
  expect(erased).toMatchObject({
    outcome: 'erased',
    proof: { places: [], events: [], unreadable: [] },
    request: { state: 'done', remaining: 0 },
  });
  expect(erased.request?.bodies).toBe(plan.events);
  const [erasedAfter = NONE, stayingAfter = NONE] = await findWordSets(db, words);
  report('search after', { erased: sum(erasedAfter), staying: sum(stayingAfter) });
  expect([...erasedAfter]).toEqual([]);
  expect([...stayingAfter]).toEqual([...stayingBefore]);
  const ledgerAfter = await digestLedger(db);
  report('digest of the ledger', { ledgerAfter });
  expect(ledgerAfter).toEqual(ledgerBefore);
  await expectVerified();
  report('verify --rebuild');
  // The stored sums of the journal, too: a difference would have made them begin again.
  expect(await readSummedTo(db)).toBeDefined();
  // The customer's id itself is in the digest only.
  const customer = erasedPeople[0]?.customerId ?? '';
  expect(JSON.stringify(await db.query('select * from erasures'))).not.toContain(`${customer}"`);
});

describe('one order', () => {
  test('loses its own data and that of its refunds, and no other order of the customer does', async () => {
    const [person] = await fill(1);
    const [first = '', second = ''] = person?.orderIds ?? [];
    const { erased } = await eraseAll([{ kind: 'order', id: first }]);

    // The other order has the same name, and no request names it.
    expect(erased).toMatchObject({ outcome: 'erased', proof: { events: expect.any(Array) } });
    const bodies = await db.query<{ body: Buffer }>('select body from webhook_bodies');
    const texts = bodies.map(({ body }) => body.toString());
    expect(texts.filter((text) => text.includes(first))).toEqual([]);
    expect(texts.filter((text) => text.includes(second)).length).toBeGreaterThan(0);
    if (erased.outcome === 'erased') expect(erased.proof.events.length).toBeGreaterThan(0);
    await expectVerified();
  });

  test(`has a proof that names twenty events with its data, however many there are (seed ${SEED})`, async () => {
    const [person] = await fill(1);
    if (!person) throw new Error('no person');
    const others = Array.from({ length: 150 }, (_, number) =>
      eventBody({
        payment_id: `pay_other_${number}`,
        status: 'succeeded',
        amount: 100,
        currency: 'USD',
        email: person.email,
      }),
    );
    await testApplier(db).applyBatch(await receive(db, others));
    const { erased } = await eraseAll([{ kind: 'order', id: person.orderIds[0] ?? '' }]);
    if (erased.outcome !== 'erased') throw new Error(erased.outcome);
    const { events } = erased.proof;
    expect(new Set(events).size).toBe(20);
    const named = await db.query<{ body: Buffer }>(
      'select body from webhook_bodies where webhook_event_id = any ($1::bigint[])',
      [events],
    );
    expect(named).toHaveLength(20);
    // A refund of the person's other order has the name alone, and is stored elsewhere, too.
    const texts = named.map(({ body }) => body.toString().toLowerCase());
    const hasData = (text: string) => person.words.some((word) => text.includes(word));
    expect(texts.filter((text) => !hasData(text))).toEqual([]);
    expect(erased.proof.places.filter(({ hasBodies }) => hasBodies)).toEqual([
      expect.objectContaining({ table: expect.stringMatching(/^webhook_bodies/) }),
    ]);
  });
});

describe('a payment', () => {
  /** A failed payment of an order, with a name in a text that the ledger shows. */
  const failed = (orderId: string, minute: string) => ({
    payment_id: 'pay_moved',
    status: 'failed',
    amount: 100,
    amount_received: 0,
    currency: 'USD',
    email: 'wmoved@example.org',
    error_code: 'R01',
    error_message: 'the bank of wmoved@example.org declined',
    metadata: { order_id: orderId },
    created: '2026-11-01T09:59:00.000Z',
    modified_at: `2026-11-01T10:${minute}:00.000Z`,
  });

  test('that left an order loses the data of that order, too', async () => {
    const bodies = [failed('ord_from', '00'), failed('ord_to', '01')];
    await applyEach(
      db,
      testApplier(db),
      bodies.map((body) => eventBody(body)),
    );
    await eraseAll([{ kind: 'order', id: 'ord_from' }]);
    expect(
      await db.query('select order_key as "orderKey", error_message as message from resources'),
    ).toEqual([{ orderKey: 'order:ord_to', message: '[erased]' }]);
    expect(
      (await db.query<{ t: string }>('select content::text as t from snapshots')).join(),
    ).not.toContain('wmoved');
    await expectVerified();
  });

  test('loses also the texts of its refunds of which the body is gone', async () => {
    const refund = {
      refund_id: 'ref_1',
      payment_id: 'pay_moved',
      amount: 100,
      currency: 'USD',
      status: 'failed',
      reason: 'wmoved@example.org sent it back',
      created: '2026-11-02T09:59:00.000Z',
      modified_at: '2026-11-02T10:00:00.000Z',
    };
    const ofRefund = { eventType: 'refund_failed', contentType: 'refund_details' };
    const ids = await receiveEach(db, [
      eventBody(failed('ord_1', '00')),
      eventBody(refund, ofRefund),
    ]);
    for (const id of ids) await testApplier(db).applyBatch([id]);
    await db.query('delete from webhook_bodies where webhook_event_id = $1', [ids.at(-1)]);
    await eraseAll([{ kind: 'payment', id: 'pay_moved' }]);
    expect([...(await findWords(db, new Set(['wmoved'])))]).toEqual([]);
    expect(await db.query(`select reason from resources where kind = 'refund'`)).toEqual([
      { reason: '[erased]' },
    ]);
  });

  /** An event that could not be read, and was received ten days ago. */
  async function receiveUnreadable(payment: object): Promise<void> {
    const [dead = 0] = await receive(db, [eventBody({ ...payment, amount: -1 })]);
    await db.query(
      `with claimed as (delete from pending where webhook_event_id = $1)
       insert into dead_events (webhook_event_id, attempts, error) values ($1, 5, 'x')`,
      [dead],
    );
    const day = `(now() at time zone 'UTC')::date - 10`;
    await db.query(`select ensure_body_day(${day})`);
    await db.query(`update webhook_bodies set day = ${day} where webhook_event_id = $1`, [dead]);
    await db.query(`update webhook_events set body_day = ${day} where id = $1`, [dead]);
  }
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  test('that the ledger does not have is searched in all days, also beside one that it has', async () => {
    const times = { created: daysAgo(0), modified_at: daysAgo(0) };
    await applyEach(db, testApplier(db), [eventBody({ ...failed('ord_known', '00'), ...times })]);
    await receiveUnreadable({ payment_id: 'pay_unread', email: 'wunread@example.org' });
    await eraseAll([
      { kind: 'payment', id: 'pay_moved' },
      { kind: 'payment', id: 'pay_unread' },
    ]);
    expect([...(await findWords(db, new Set(['wunread', 'wmoved'])))]).toEqual([]);
  });

  test('is searched from the day of its creation, also if its first event could not be read', async () => {
    await receiveUnreadable({ payment_id: 'pay_moved', email: 'wunread@example.org' });
    const times = { created: daysAgo(11), modified_at: daysAgo(0) };
    await applyEach(db, testApplier(db), [eventBody({ ...failed('ord_known', '00'), ...times })]);
    await eraseAll([{ kind: 'payment', id: 'pay_moved' }]);
    expect([...(await findWords(db, new Set(['wunread', 'wmoved'])))]).toEqual([]);
  });
});

describe('a document of another schema', () => {
  test('beside the id of one of the people has values to search for, and beside ids of two has none', async () => {
    const people = await fill(2);
    const [ada = '', grace = ''] = people.map(({ customerId }) => customerId);
    await db.query(`create schema shop;
      create table shop.documents (doc jsonb);
      insert into shop.documents values
        ('{"customer_id": "${ada}", "full_name": "Elsewhere Only"}'),
        ('{"customer_id": "${ada}", "partner_id": "${grace}", "full_name": "Shared Company"}');
      create table shop.notes (body text);
      insert into shop.notes values ('Elsewhere Only called'), ('Shared Company called')`);
    const { erased } = await eraseAll(customersOf(people));
    expect(erased).toMatchObject({ outcome: 'erased', proof: { places: [] } });
    expect(await db.query('select body from shop.notes order by body desc')).toEqual([
      { body: '[erased] called' },
      { body: 'Shared Company called' },
    ]);
  });

  test('that has a common value of a person as the name makes it one to search for', async () => {
    const payment = {
      payment_id: 'pay_1',
      status: 'succeeded',
      amount: 100,
      currency: 'USD',
      customer_id: 'cus_ada',
      billing: { address: { city: 'New York' } },
    };
    await applyEach(db, testApplier(db), [eventBody(payment)]);
    await db.query(`create schema shop;
      create table shop.documents (doc jsonb);
      insert into shop.documents values ('{"customer_id": "cus_ada", "full_name": "New York"}');
      create table shop.notes (body text);
      insert into shop.notes values ('New York called')`);
    await eraseAll([{ kind: 'customer', id: 'cus_ada' }]);
    expect(await db.query('select body from shop.notes')).toEqual([{ body: '[erased] called' }]);
  });
});

describe('events', () => {
  test('that are pending keep their bodies until they are applied; the same call then goes on', async () => {
    const { people, bodies } = createPeople(1, seededRandom(SEED));
    const ids = await receive(db, bodies);
    const { erased } = await eraseAll(customersOf(people));
    expect(erased).toMatchObject({
      outcome: 'waiting',
      pending: [...ids].toSorted((a, b) => a - b),
    });
    expect((await db.query('select from webhook_bodies')).length).toBe(ids.length);

    await testApplier(db).applyBatch(ids);
    const again = await eraseAll(customersOf(people));
    expect(again.plan.running?.id).toBe(erased.id);
    expect(again.erased).toMatchObject({ id: erased.id, outcome: 'erased', proof: { places: [] } });
    expect([...(await findWords(db, wordsOf(people)))]).toEqual([]);
    await expectVerified();
  });

  test('that are dead, and other bodies under a known id, are erased as well', async () => {
    const [person] = await fill(1);
    if (!person) throw new Error('no person');
    const [paymentId = ''] = person.paymentIds;
    const object = { payment_id: paymentId, amount: -1, email: person.email };
    const [dead = 0] = await receive(db, [eventBody(object, { eventId: 'evt_twice' })]);
    await receive(db, [eventBody({ ...object, note: 'other' }, { eventId: 'evt_twice' })]);
    await db.query('delete from pending where webhook_event_id = $1', [dead]);
    await db.query(
      'insert into dead_events (webhook_event_id, attempts, error) values ($1, 5, $2)',
      [dead, `cannot read ${person.email}`],
    );
    const { plan, erased } = await eraseAll([
      { kind: 'payment', id: paymentId },
      ...customersOf([person]),
    ]);
    expect(plan.state.dead).toEqual([dead]);
    expect(erased).toMatchObject({ outcome: 'erased', proof: { places: [] } });
    expect([...(await findWords(db, wordsOf([person])))]).toEqual([]);
    expect(await db.query('select error from dead_events')).toEqual([{ error: '[erased]' }]);
  });
});

describe('a change that the table refuses', () => {
  test('leaves its value to the proof, and everything else is erased', async () => {
    const [person] = await fill(1);
    if (!person) throw new Error('no person');
    await db.query(`create schema shop;
      create table shop.letters (body text, body_length integer generated always as (length(body)) stored,
        salutation text generated always as ('To ' || body) stored);
      insert into shop.letters (body) values ('${person.fullName}');
      create table shop.kept (body text check (body not like '%erased%'));
      insert into shop.kept values ('${person.fullName}')`);
    await db.query(
      `insert into period_closings (month, version, time_zone, from_at, to_at, last_transfer, closed_by, reason,
                                    exceptions)
       values ('2026-10', 1, 'UTC', '2026-10-01Z', '2026-11-01Z', 0, 'ada', $1, '[]'),
              ('2026-09', 1, 'UTC', '2026-09-01Z', '2026-10-01Z', 0, 'ada', null, '[]')`,
      [`${person.fullName} is paid by hand`],
    );
    await db.query(
      `update period_closings set reopened_at = now(), reopened_by = 'ada', reopened_reason = $1
        where month = '2026-09'`,
      [`a refund of ${person.fullName}`],
    );
    const { erased } = await eraseAll(customersOf([person]));
    expect(erased).toMatchObject({
      outcome: 'erased',
      proof: {
        places: [
          { table: 'period_closings', rows: 1 },
          { table: 'shop.kept', rows: 1 },
        ],
      },
    });
    expect([...(await findWords(db, wordsOf([person]))).keys()].toSorted()).toEqual([
      'public.period_closings.reason',
      'shop.kept.body',
    ]);
    expect(await db.query('select from webhook_bodies')).toEqual([]);
  });
});

describe('verify', () => {
  test('finds an erased snapshot that was changed afterwards, and a body that vanished without a record', async () => {
    const people = await fill(20);
    await eraseAll(customersOf(people.slice(0, 10)));
    await expectVerified();
    await db.query(`set session_replication_role = replica;
      update snapshots set content = jsonb_set(content::jsonb, '{amountMinor}', '1')::json
       where ctid = (select min(ctid) from snapshots where redacted_hash is not null);
      delete from erased_bodies where webhook_event_id = (select min(webhook_event_id) from erased_bodies);
      set session_replication_role = default`);
    const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: false });
    const failed = report.checks.filter(({ failures }) => failures > 0).map(({ name }) => name);
    expect(failed).toContain('snapshots');
    expect(failed).toContain('inbox');
  });
});

test('the role with the least rights erases what it may read, and names what it may not', async () => {
  const people = await fill(4);
  const [person] = people;
  if (!person) throw new Error('no person');
  await leaveCopies(person);
  await db.query(`drop schema elsewhere cascade; create schema closed;
    create table closed.notes (body text); insert into closed.notes values ('${person.email}')`);
  const url = new URL(db.url);
  url.searchParams.set('options', '-c role=tallyhook_app');
  const app = createDatabase({
    connectionString: url.href,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  try {
    const plan = await planErasure({ db: app }, customersOf([person]));
    const erased = await eraseAs({ db: app }, ACTOR, { plan, reason: 'a request' });
    expect(erased).toMatchObject({ outcome: 'erased', proof: { places: [] } });
    if (erased.outcome !== 'erased') return;
    expect(erased.proof.unreadable).toEqual(['closed.notes']);
    expect(erased.proof.toVacuum).toContain('public.messages');
  } finally {
    await app.close();
  }
  expect([...(await findWords(db, wordsOf([person]))).keys()]).toEqual(['closed.notes.body']);
  await expectVerified();
});

test('the functions of the owner replace texts of snapshots and nothing else', async () => {
  await fill(5);
  const [snapshot] = await db.query<{
    kind: string;
    id: string;
    epoch: number;
    hash: string;
    content: object;
  }>(
    `select kind, resource_id as id, epoch, encode(content_hash, 'hex') as hash, content from snapshots limit 1`,
  );
  const redact = (content: object) =>
    db.query('select redact_snapshots($1::jsonb)', [
      JSON.stringify([
        {
          ...snapshot,
          content_hash: snapshot?.hash,
          content: JSON.stringify(content),
          redacted_hash: 'ab'.repeat(32),
        },
      ]),
    ]);
  await expect(redact({ ...snapshot?.content, amountMinor: 1 })).rejects.toThrow('only texts');
  await expect(redact({ ...snapshot?.content, reason: 'made up' })).rejects.toThrow('only texts');
  await expect(db.query(`update snapshots set source = 'list'`)).rejects.toThrow('append-only');
  await expect(db.query(`delete from audit`)).rejects.toThrow('append-only');
});

/**
 * More than a year in the life of an installation, with the database's clock moved: the receiver's intake,
 * the worker, and the schedules that make days, move bodies and remove old rows. For longer than days are
 * made ahead, no schedule runs.
 *
 * Tables of orders, resources, snapshots and the journal are never reduced; they grow with the orders. The
 * short form skips days in the middle of the year. `scripts/simulate-year.sh` lives through each of them,
 * with the default settings of retention.
 */
import { createHash } from 'node:crypto';
import { env, stdout } from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import type { RetentionDays } from '../../src/config/retentionSettings.ts';
import { makeBodyDays } from '../../src/ledger/bodies/bodyDays.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { readBodies } from '../../src/ledger/bodies/readBodies.ts';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { monotonicMs } from '../../src/platform/clock.ts';
import { DAY_MS, HOUR_MS } from '../../src/platform/time.ts';
import { createIntake, type Intake } from '../../src/receiver/intake.ts';
import { removeOld } from '../../src/retention/removeOld.ts';
import { silentLog } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { testApplier } from '../support/ledger.ts';
import { createMovedDatabase, type MovedDatabase } from '../support/movedDatabase.ts';
import { noSleep } from '../support/retention.ts';

const isLong = env.SIMULATED_DAYS !== undefined;
const LAST_DAY = Number(env.SIMULATED_DAYS ?? 520);
const EVENTS_A_DAY = Number(env.SIMULATED_EVENTS ?? 24);
/** How many of the last days have no gap between them. */
const LAST_DAYS = 24;
const FIRST_DAYS = 24;
const DAYS_SKIPPED = 50;
const BODY_DAYS = isLong ? 90 : 8;
const RETENTION: RetentionDays = {
  ...loadConfig({}).retention,
  ...(!isLong && {
    bodies: BODY_DAYS,
    messages: 10,
    changes: 10,
    alerts: 20,
    findings: 20,
    runs: 10,
  }),
};
/** Headers stay for 400 days at least. */
const EVENT_DAYS = 400;
/** Until the space of the first removed headers is used again. */
const SETTLING_DAYS = 40;
/** Days on which no schedule runs: more than are made ahead. */
const DOWN = { from: 12, to: 21 };
const DAYS_AHEAD = 7;
const FIRST_DAY_MS = Date.parse('2030-01-01T00:00:00Z');
const BODY_BYTES = 1_500;

/** The days with load, by their number. */
const DAYS = Array.from({ length: LAST_DAY }, (_, n) => n + 1).filter(
  (day) => isLong || day <= FIRST_DAYS || day > LAST_DAY - LAST_DAYS || day % DAYS_SKIPPED === 0,
);

let db: MovedDatabase;
let intake: Intake;
let toApply: number[] = [];

beforeAll(async () => {
  db = await createMovedDatabase();
  await db.moveTo(FIRST_DAY_MS);
  await makeBodyDays(db, silentLog);
  intake = createIntake({
    db,
    clock: db.clock,
    monotonicMs,
    log: silentLog,
    enqueue: (ids) => toApply.push(...ids),
    observeBatchSize: () => undefined,
    keep: () => undefined,
    makeBodyDays: () => makeBodyDays(db, silentLog),
  });
});
afterAll(() => db.drop());

/** An event of a succeeded payment, as of now. */
function newEvent(fields: object = {}, merchantId = MERCHANT_ID): Buffer {
  const at = new Date(db.clock.nowMs()).toISOString();
  const payment = paymentObject({ created: at, modified_at: at, ...fields });
  const noise = createHash('sha512').update(payment.payment_id).digest('hex').repeat(20);
  const unpadded = eventBody(payment, { timestamp: at, merchantId });
  const padding = noise.slice(0, Math.max(0, BODY_BYTES - unpadded.length));
  const eventId = unique('evt');
  return eventBody({ ...payment, browser: padding }, { eventId, timestamp: at, merchantId });
}

/** Receives bodies and applies what the receiver enqueued. @returns the outcomes, and the inbox numbers */
async function deliver(
  bodies: readonly Buffer[],
): Promise<{ readonly outcomes: readonly string[]; readonly ids: readonly number[] }> {
  const results = await Promise.all(bodies.map((body) => intake.accept(body, 0)));
  const ids = toApply;
  toApply = [];
  await testApplier(db, MERCHANT_ID, db.clock).applyBatch(ids);
  return { outcomes: results.map(({ outcome }) => outcome), ids };
}

const moveBodies = () =>
  createBodiesJob({ db, log: silentLog, signal: new AbortController().signal })();
const removeOldRows = () =>
  removeOld(
    { db, days: RETENTION, sleep: noSleep, machine: db.clock },
    { longestMs: 60_000, signal: new AbortController().signal },
  );

/** What the schedules do in a day, at their times. */
async function runSchedules(startMs: number): Promise<void> {
  await db.moveTo(startMs + HOUR_MS);
  await makeBodyDays(db, silentLog);
  await moveBodies();
  // A packed day rests for an hour before its partition is detached.
  await db.moveTo(startMs + 3 * HOUR_MS);
  await moveBodies();
  await createChangeFeed(db).publish();
  await db.moveTo(startMs + 4 * HOUR_MS);
  await removeOldRows();
}

interface Measured {
  readonly day: number;
  readonly daysAhead: number;
  readonly openPartitions: number;
  readonly packedPartitions: number;
  readonly events: number;
  readonly bodyBytes: number;
  /** Bytes of the rows that retention removes, without the digests of events that it leaves. */
  readonly rowBytes: number;
  /** Bytes of the whole database, with what grows with the orders. */
  readonly allBytes: number;
}

async function measure(day: number): Promise<Measured> {
  // In a real day the server does it, some minutes after rows were deleted.
  await db.query(
    'vacuum webhook_events, pending, changes, change_log, findings, alerts, kept_bodies',
  );
  const [row] = await db.query<Omit<Measured, 'day'>>(
    `with parts as (
       select inhparent::regclass::text as parent, inhrelid
         from pg_inherits where inhparent in ('webhook_bodies'::regclass, 'packed_bodies'::regclass)
     )
     select (select count(*) from body_days where day > (now() at time zone 'UTC')::date
              and to_regclass('webhook_bodies_' || to_char(day, 'YYYYMMDD')) is not null) as "daysAhead",
            (select count(*) from parts where parent = 'webhook_bodies') as "openPartitions",
            (select count(*) from parts where parent = 'packed_bodies') as "packedPartitions",
            (select count(*) from webhook_events) as events,
            (select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint from parts)
              + (select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint
                   from detached_partitions where dropped_at is null) as "bodyBytes",
            (select sum(pg_total_relation_size(t::regclass))::bigint
                   from unnest(array['webhook_events', 'kept_bodies', 'event_variants', 'pending',
                                     'messages', 'changes', 'change_log', 'alerts', 'findings',
                                     'reconcile_runs']) as t) as "rowBytes",
            pg_database_size(current_database()) as "allBytes"`,
  );
  if (!row) throw new Error('a query that always has one row returned none');
  return { day, ...row };
}

const count = async (text: string): Promise<number> =>
  (await db.query<{ n: number }>(`select count(*) as n from ${text}`))[0]?.n ?? 0;

/** Events that stay at any age. */
async function deliverKept(): Promise<{ readonly dead: number; readonly unexplained: number }> {
  await intake.accept(newEvent(), 0);
  const dead = toApply.pop() ?? 0;
  await testApplier(db, MERCHANT_ID, db.clock).markDead(dead, 5, 'it could not be applied');
  const { ids } = await deliver([newEvent({}, 'merchant_other')]);
  return { dead, unexplained: ids[0] ?? 0 };
}

test(`${DAYS.length} days of ${EVENTS_A_DAY} events`, async () => {
  const kept = await deliverKept();
  const first = newEvent();
  await deliver([first]);
  const sent = new Map([[0, 3]]);
  let repeated: Buffer = first;
  const measured: Measured[] = [];
  for (const day of DAYS) {
    const startMs = FIRST_DAY_MS + day * DAY_MS;
    const isDown = day >= DOWN.from && day <= DOWN.to;
    await db.moveTo(startMs);
    if (!isDown) await runSchedules(startMs);
    for (const hour of [9, 21]) {
      await db.moveTo(startMs + hour * HOUR_MS);
      const bodies = Array.from({ length: EVENTS_A_DAY / 2 }, () => newEvent());
      const { outcomes } = await deliver([...bodies, repeated]);
      expect({ day, outcomes: new Set(outcomes.slice(0, -1)) }).toEqual({
        day,
        outcomes: new Set(['accepted']),
      });
      expect(outcomes.at(-1)).toBe('duplicate');
      sent.set(day, (sent.get(day) ?? 0) + bodies.length);
      repeated = bodies[0] ?? repeated;
    }
    const now = await measure(day);
    measured.push(now);
    if (isLong && day % 10 === 0) stdout.write(`${JSON.stringify(now)}\n`);
    // Each day has its partition in time: the next seven, unless nothing makes them for longer.
    if (!isDown) expect(now).toMatchObject({ day, daysAhead: DAYS_AHEAD });
  }

  expectLevel(measured.slice(-LAST_DAYS), 'bodyBytes');
  if (isLong) expectLevel(measured.slice(EVENT_DAYS + SETTLING_DAYS), 'rowBytes');
  const last = measured.at(-1);
  // Today, the days ahead, and what is being packed or rests.
  expect(last?.openPartitions).toBeLessThanOrEqual(DAYS_AHEAD + 3);
  expect(last?.packedPartitions).toBeLessThanOrEqual(BODY_DAYS + 2);
  await expectNothingLost(sent, kept);
  await expectReplayIsHarmless(first);
  const verified = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(verified.checks.filter(({ failures }) => failures > 0)).toEqual([]);
});

/**
 * The peak in the last half of the days is that of the half before it. Rows of forty days would add a twentieth,
 * and bodies of twelve days a tenth.
 */
function expectLevel(measured: readonly Measured[], size: 'bodyBytes' | 'rowBytes'): void {
  expect(measured.length, 'days to compare').toBeGreaterThanOrEqual(LAST_DAYS);
  const half = Math.floor(measured.length / 2);
  const peak = (some: readonly Measured[]) => Math.max(...some.map((one) => one[size]));
  const before = peak(measured.slice(0, half));
  expect(peak(measured.slice(half))).toBeLessThanOrEqual(1.02 * before);
}

interface BodyPlace {
  readonly id: number;
  readonly bodyDay: string;
}

const readPlaces = (condition: string, value: unknown): Promise<readonly BodyPlace[]> =>
  db.query<BodyPlace>(
    `select id, to_char(body_day, 'YYYY-MM-DD') as "bodyDay" from webhook_events
      where ${condition} order by id`,
    [value],
  );

/** @param sent how many events were sent on each day */
async function expectNothingLost(
  sent: ReadonlyMap<number, number>,
  kept: { readonly dead: number; readonly unexplained: number },
): Promise<void> {
  const sentSince = (firstDay: number) =>
    [...sent].reduce((sum, [day, events]) => sum + (day >= firstDay ? events : 0), 0);
  const all = sentSince(0);
  const events = await count('webhook_events');
  expect(events + (await count('removed_events'))).toBe(all);
  expect(events).toBeGreaterThanOrEqual(sentSince(LAST_DAY - EVENT_DAYS + 1) + 2);
  expect(events).toBeLessThanOrEqual(sentSince(LAST_DAY - EVENT_DAYS - 2) + 2);
  expect(await count('pending')).toBe(0);
  // One event is dead, one of another merchant.
  expect(await count(`resources where status = 'succeeded'`)).toBe(all - 2);

  const needed = await readPlaces('id = any ($1)', [kept.dead, kept.unexplained]);
  expect(needed).toHaveLength(2);
  expect((await readBodies(db, needed)).size).toBe(2);
  const young = await readPlaces(
    `body_day > (now() at time zone 'UTC')::date - $1::integer`,
    BODY_DAYS,
  );
  expect(young).toHaveLength(sentSince(LAST_DAY - BODY_DAYS + 1));
  expect((await readBodies(db, young)).size).toBe(young.length);
}

/** An event that arrives again after its row was removed is noticed, and moves no money. */
async function expectReplayIsHarmless(body: Buffer): Promise<void> {
  const totals = () =>
    db.query('select sum(captured_minor) as captured, count(*) as orders from order_totals');
  const before = await totals();
  expect(await count('removed_events')).toBeGreaterThan(0);
  const { outcomes, ids } = await deliver([body]);
  expect(outcomes).toEqual(['accepted']);
  expect(await totals()).toEqual(before);
  const findings = await db.query('select class from findings where subject = $1', [
    `event:${ids[0]}`,
  ]);
  expect(findings).toEqual([{ class: 'event_repeated' }]);
}

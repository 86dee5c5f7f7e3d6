/**
 * What `retention show` lists is what a run removes: over random rows, the counts of each class equal
 * the rows that a scan finds, and every one of those is removed.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RetentionDays } from '../../src/config/retentionSettings.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { scanned } from '../../src/platform/db/scannedRows.ts';
import { type RetentionClass, retentionClasses } from '../../src/retention/classes.ts';
import { planRetention } from '../../src/retention/plan.ts';
import { storeDay } from '../support/bodyDays.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';
import { DEFAULT_DAYS } from '../support/retention.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const ROWS = 60;

/** Ages in days, the oldest first; most of them on both sides of `around`. */
function agesOf(random: Random, around: number): readonly number[] {
  return Array.from({ length: ROWS }, () => around * 2 * random()).toSorted((a, b) => b - a);
}

const pick = <T>(random: Random, from: readonly T[]): T => {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new RangeError('nothing to pick from');
  return one;
};

type Fill = (random: Random) => Promise<unknown>;

/** A row for each age, which began then; it ended at most 20 days later, or not at all. */
const endings = (random: Random, ages: readonly number[]) =>
  ages.map((age) => (random() < 0.2 ? null : Math.max(0, age - 20 * random())));

const fills: Readonly<Record<Exclude<keyof RetentionDays, 'bodies'>, Fill>> = {
  messages: (random) => {
    const ages = agesOf(random, 30);
    return db.query(
      `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
       select 'msg_' || n, 'log', 'alert', '{}', case when ended is null then 'due' else 'delivered' end,
              now(), now() - age * interval '1 day', now() - ended * interval '1 day'
         from unnest($1::float8[], $2::float8[]) with ordinality as u (age, ended, n)`,
      [ages, endings(random, ages)],
    );
  },
  alerts: async (random) => {
    const ages = agesOf(random, 400);
    await db.query(
      `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, opened_at, resolved_at)
       select 'backlog', 'system:' || n, 'warning', case when ended is null then 'open' else 'resolved' end,
              'x', 'x', '{}', now() - age * interval '1 day', now() - ended * interval '1 day'
         from unnest($1::float8[], $2::float8[]) with ordinality as u (age, ended, n)`,
      [ages, endings(random, ages)],
    );
    const waiting = ages.flatMap((_, place) => (random() < 0.3 ? [place + 1] : []));
    await db.query(
      `insert into alert_outbox (alert_id, type) select id, 'resolved' from unnest($1::bigint[]) as id`,
      [waiting],
    );
  },
  findings: async (random) => {
    const [ages, days] = [agesOf(random, 400), agesOf(random, 10)];
    await db.query(
      `insert into webhook_events (event_id, event_type, body_sha256, received_at)
       select 'evt_' || n, 'x', sha256('x'), now() from generate_series(1, $1::integer) as n`,
      [days.length],
    );
    await db.query(
      `insert into findings (class, subject, state, detail, opened_at, closed_at)
       select 'event_ignored', subject, case when ended is null then 'open' else 'closed' end, '{}',
              now() - age * interval '1 day', now() - ended * interval '1 day'
         from unnest($1::float8[], $2::float8[], $3::text[]) as u (age, ended, subject)`,
      [
        ages,
        endings(random, ages),
        // Some events are in the inbox, some are not.
        ages.map((_, place) => `${pick(random, ['payment:', 'event:', 'event:9'])}${place + 1}`),
      ],
    );
  },
  runs: (random) => {
    const ages = agesOf(random, 90);
    return db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                   started_at, finished_at)
       select stream, 'full', 'tail', false, case when ended is null then 'running' else 'done' end,
              now(), now(), now(), now() - age * interval '1 day', now() - ended * interval '1 day'
         from unnest($1::float8[], $2::float8[], $3::text[]) as u (age, ended, stream)`,
      [
        ages,
        endings(random, ages),
        // The newest of `payouts` is old, too.
        ages.map((_, place) => (place < 9 ? 'payouts' : pick(random, ['payments', 'refunds']))),
      ],
    );
  },
  sessions: (random) => {
    const ages = agesOf(random, 30);
    // Some are links that nobody used, and some were ended before they expired.
    return db.query(
      `insert into console_sessions (digest, token_digest, holder, created_at, started_at, last_seen_at,
                                     expires_at, ended_at)
       select sha256(n::text::bytea), sha256('token'), 'ada', now() - age * interval '1 day',
              case when n % 5 > 0 then now() - age * interval '1 day' end,
              case when n % 5 > 0 then now() - age * interval '1 day' end,
              now() - (age - 20) * interval '1 day', now() - ended * interval '1 day'
         from unnest($1::float8[], $2::float8[]) with ordinality as u (age, ended, n)`,
      [ages, endings(random, ages)],
    );
  },
  changes: (random) =>
    db.query(
      `insert into changes (number, kind, id, order_key, change, status, changed_at, is_history)
       select n, 'order', 'o', 'order:o', 'status', 'paid', now() - age * interval '1 day', false
         from unnest($1::float8[]) with ordinality as u (age, n)`,
      // Commits are not in the order of their times, so a new change may come before old ones.
      [agesOf(random, 90).map((age, place) => (place > 9 && random() < 0.05 ? 1 : age))],
    ),
  events: async (random) => {
    await db.query(
      `insert into body_days (day, state, removed_at) values ('2020-01-01', 'removed', now())`,
    );
    await db.query(
      `insert into webhook_events (event_id, event_type, body, body_sha256, received_at, body_day)
       select 'evt_' || n, 'x', case when n % 7 = 0 then '\\x00'::bytea end, sha256('x'),
              now() - age * interval '1 day', case when n % 7 <> 0 then date '2020-01-01' end
         from unnest($1::float8[]) with ordinality as u (age, n)`,
      [agesOf(random, 400)],
    );
    const some = () => Array.from({ length: ROWS }, (_, n) => n + 1).filter(() => random() < 0.1);
    await db.query(
      `insert into pending (webhook_event_id, enqueue_at) select id, now() from unnest($1::bigint[]) id`,
      [some()],
    );
    await db.query(
      `insert into kept_bodies (webhook_event_id, body) select id, '\\x00' from unnest($1::bigint[]) id`,
      [some()],
    );
    await db.query(
      `insert into resources (kind, id, payment_id, status, next_check_at)
       values ('dispute', 'dp_1', 'pay_1', 'opened', now())`,
    );
    await db.query(
      `insert into snapshots (kind, resource_id, epoch, content_hash, content, source, observed_micros,
                              webhook_event_id)
       select 'dispute', 'dp_1', 0, sha256(id::text::bytea), '{}', 'webhook', 1, id
         from unnest($1::bigint[]) id`,
      [some()],
    );
  },
};

function classOf(name: string): RetentionClass {
  const one = retentionClasses().find((each) => each.name === name);
  if (one === undefined) throw new Error(`there is no class ${name}`);
  return one;
}

/** Every row that a run would find, read in small steps. */
async function scanAll(one: RetentionClass, before: Date): Promise<readonly number[]> {
  const found: number[] = [];
  let after: number | undefined = 0;
  // A scan by time has no position: it finds what is left, so one large step reads all.
  const limit = one.name === 'messages' ? 1_000 : 7;
  while (after !== undefined) {
    const request = { before, after, limit };
    const { keys, last } = scanned(await one.scan(db, request), request);
    found.push(...keys);
    after = last;
  }
  return found;
}

const daysAgo = async (days: number): Promise<Date> => {
  const [row] = await db.query<{ before: Date }>(
    `select now() - $1::integer * interval '1 day' as before`,
    [days],
  );
  return row?.before ?? new Date(0);
};

test.each(Object.keys(fills) as (keyof typeof fills)[])(
  'the count of removable rows of %s is that of the rows that are removed',
  async (name) => {
    const seed = testSeed();
    await fills[name](seededRandom(seed));
    const one = classOf(name);
    const before = await daysAgo(DEFAULT_DAYS[name] ?? 0);
    const keys = await scanAll(one, before);
    expect(keys.length, `TEST_SEED=${seed}`).toBeGreaterThan(0);
    expect(keys.length, `TEST_SEED=${seed}`).toBeLessThan(ROWS);
    const measured = await one.measure(db, before);
    expect(measured.removable, `TEST_SEED=${seed}`).toBe(keys.length);
    const removed = await db.transaction((tx) => one.remove(tx, keys, before));
    expect(removed, `TEST_SEED=${seed}`).toBe(keys.length);
    expect(await one.measure(db, before), `TEST_SEED=${seed}`).toMatchObject({ removable: 0 });
  },
);

test('days that are not packed are shown as waiting, and their bodies as not removable', async () => {
  const seed = testSeed();
  const random = seededRandom(seed);
  const sizes = [5, 4, 3, 2].map((age) => ({
    daysAgo: age,
    events: 1 + Math.floor(random() * 30),
  }));
  for (const day of sizes) await storeDay(db, day);
  const run = (restMs: number) =>
    createBodiesJob({
      db,
      log: silentLog,
      signal: new AbortController().signal,
      times: { budgetMs: 60_000, settleMs: 0, restMs },
    })();
  const [oldest, older, ...others] = sizes;
  const planned = async () =>
    (await planRetention(db, { ...DEFAULT_DAYS, bodies: 2 })).find(({ name }) => name === 'bodies');
  // Whether the third day is past two days depends on the hour, so it is not counted on.
  const waiting = (await planned())?.waitingDays ?? 0;
  expect(waiting, `TEST_SEED=${seed}`).toBeGreaterThanOrEqual(2);
  expect(await planned(), `TEST_SEED=${seed}`).toMatchObject({ removable: 0 });

  // Packed, and not detached yet.
  await run(3_600_000);
  expect(await planned(), `TEST_SEED=${seed}`).toMatchObject({ removable: 0 });
  await run(0);
  const after = await planned();
  expect(after?.waitingDays, `TEST_SEED=${seed}`).toBe(0);
  const atLeast = (oldest?.events ?? 0) + (older?.events ?? 0);
  const atMost = others.reduce((sum, { events }) => sum + events, atLeast);
  expect(after?.removable, `TEST_SEED=${seed}`).toBeGreaterThanOrEqual(atLeast);
  expect(after?.removable, `TEST_SEED=${seed}`).toBeLessThanOrEqual(atMost);

  const one = classOf('bodies');
  const keys = await scanAll(one, await daysAgo(2));
  let removed = 0;
  for (const key of keys) {
    removed += await db.transaction((tx) => one.remove(tx, [key], new Date()));
  }
  expect(removed, `TEST_SEED=${seed}`).toBe(keys.length);
  const [left] = await db.query<{ bodies: number }>(
    'select coalesce(sum(cardinality(event_ids)), 0)::bigint as bodies from packed_bodies',
  );
  expect(left?.bodies, `TEST_SEED=${seed}`).toBe(atMost - (after?.removable ?? 0));
});

/**
 * `tallyhook verify` in ranges: a rotation contains everything, what changed is proven at once, a failure
 * is repeated until it passes, and a run that was killed is continued.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startThreads } from '../../src/assembly/verifyThreads.ts';
import { readProof } from '../../src/ledger/store/verifyRounds.ts';
import { checkRange } from '../../src/ledger/verify/checkRange.ts';
import {
  type Checker,
  type ProofReport,
  proveLedger,
} from '../../src/ledger/verify/proveLedger.ts';
import {
  createScheduledProof,
  type ScheduledProofParts,
} from '../../src/ledger/verify/scheduledProof.ts';
import { createSystemWatch } from '../../src/monitor/watchSystem.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { createChoices, shopEvents } from '../support/shop.ts';

/** Every failure names it; set it to repeat one. */
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `SEED=${SEED}`;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function fill(seed: number, orders: number): Promise<void> {
  const ids = await receive(db, shopEvents({ seed, orders }));
  for (let start = 0; start < ids.length; start += 50) {
    await testApplier(db).applyBatch(ids.slice(start, start + 50));
  }
}

interface Options {
  readonly mode?: 'full' | 'incremental';
  readonly checkers?: readonly Checker[];
  readonly fullDays?: number;
  readonly rangeRows?: number;
  readonly maxSeconds?: number;
}

const inline: Checker = (task) => checkRange(db, task);

async function prove({
  mode = 'incremental',
  checkers = [inline],
  fullDays = 5,
  rangeRows = 40,
  ...rest
}: Options = {}): Promise<ProofReport> {
  const options = { merchantId: MERCHANT_ID, mode, fullDays, rangeRows, ...rest };
  const result = await proveLedger(db, { ...options, openCheckers: () => checkers });
  if (result.outcome !== 'proven') throw new Error('another run of verify is under way');
  return result.report;
}

function failures({ checks }: ProofReport): Record<string, string[]> {
  return Object.fromEntries(
    checks
      .filter((check) => check.failures > 0)
      .map(({ name, offenders }) => [name, offenders.map(({ subject }) => subject)]),
  );
}

function countOf({ checks }: ProofReport, name: string): number {
  return checks.find((check) => check.name === name)?.checked ?? 0;
}

/** Moves the begin of the open round into the past, as days that go by do. */
async function passDays(days: number): Promise<void> {
  await db.query(
    `update verify_rounds set started_at = started_at - make_interval(days => $1)
      where finished_at is null`,
    [days],
  );
}

/** Settles every event: runs leave the newest ones to the next run, too. */
async function settle(): Promise<void> {
  await damage(
    'webhook_events',
    `update webhook_events set received_at = now() - interval '1 day'`,
  );
}

/** Changes rows with every trigger disabled, which only the owner can do. */
async function damage(table: string, statement: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`alter table ${table} disable trigger all`);
    const rows = await tx.query(`${statement} returning 1`);
    expect(rows.length, `${statement} changed nothing`).toBeGreaterThan(0);
    await tx.query(`alter table ${table} enable trigger all`);
  });
}

interface Seen {
  readonly resources: string[];
  readonly orders: string[];
  readonly events: number[];
}

/** A checker that records what it reads: resources and orders by their keys, events by their numbers. */
function recording(seen: Seen): Checker {
  const recorded = (tx: Queryable): Queryable => ({
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const rows = await tx.query<Row>(text, values);
      if (/from unnest.*\n *join resources r/.test(text)) {
        const [kinds, ids] = values as [string[], string[]];
        seen.resources.push(...ids.map((id, place) => `${kinds[place]}:${id}`));
      }
      if (/from orders\n/.test(text) && text.includes('moved_to')) {
        seen.orders.push(...(values[0] as string[]));
      }
      if (text.includes('"isPending"')) {
        seen.events.push(...rows.map((row) => (row as unknown as { id: number }).id));
      }
      return rows;
    },
  });
  const watched: Pick<Database, 'query' | 'transaction'> = {
    query: (text, values) => recorded(db).query(text, values),
    transaction: (work) => db.transaction((tx) => work(recorded(tx))),
  };
  return (task) => checkRange(watched, task);
}

const nothingSeen = (): Seen => ({ resources: [], orders: [], events: [] });

async function stored(): Promise<Seen> {
  const keys = async (text: string) =>
    (await db.query<{ key: string }>(text)).map(({ key }) => key);
  return {
    resources: await keys(`select kind || ':' || id as key from resources`),
    orders: await keys('select order_key as key from orders'),
    events: (await keys('select id::text as key from webhook_events')).map(Number),
  };
}

const sorted = <Key>(keys: readonly Key[]) => keys.toSorted();

describe('a rotation', () => {
  test('checks every resource, order and event exactly once while nothing changes', async () => {
    await fill(SEED, 30);
    await settle();
    await prove();
    const before = await stored();
    // The first run has proven everything; the round that begins now is the first rotation.
    const days = 4 + (SEED % 5);
    const seen = nothingSeen();
    let sharesWithWork = 0;
    for (let day = 0; day < days; day += 1) {
      if (day > 0) await passDays(1);
      const report = await prove({ fullDays: days, checkers: [recording(seen)] });
      expect(failures(report), seeded).toEqual({});
      if (countOf(report, 'resources') + countOf(report, 'orders') > 0) sharesWithWork += 1;
    }
    expect(sorted(seen.resources), seeded).toEqual(sorted(before.resources));
    expect(sorted(seen.orders), seeded).toEqual(sorted(before.orders));
    expect(sorted(seen.events), seeded).toEqual(sorted(before.events));
    expect(sharesWithWork, 'the work is spread over days').toBeGreaterThan(1);
    expect((await readProof(db)).fullAtMs).not.toBeNull();
  });

  test('also checks what is added meanwhile', async () => {
    const random = createChoices(SEED);
    await fill(SEED, 30);
    await prove();
    await settle();
    const seen = nothingSeen();
    const days = 4;
    for (let day = 0; day < days; day += 1) {
      await fill(SEED + 1 + day, random.below(12));
      if (random.chance(0.5)) await settle();
      if (day > 0) await passDays(1);
      expect(
        failures(await prove({ fullDays: days, checkers: [recording(seen)] })),
        seeded,
      ).toEqual({});
    }
    const after = await stored();
    for (const kind of ['resources', 'orders', 'events'] as const) {
      const known = new Set<string | number>(seen[kind]);
      expect(
        after[kind].filter((key) => !known.has(key)),
        `${kind}, ${seeded}`,
      ).toEqual([]);
    }
  });

  test('finds what was damaged behind the program, in one of its runs', async () => {
    await fill(SEED, 30);
    await settle();
    await prove();
    await prove();
    const [order] = await db.query<{ key: string }>(
      'select order_key as key from orders order by md5(order_key || $1) limit 1',
      [String(SEED)],
    );
    await damage(
      'orders',
      `update orders set status = 'nonsense' where order_key = '${order?.key}'`,
    );
    // The first run of this round may have had the order before it was damaged; a rotation has it again.
    const found: boolean[] = [];
    for (let day = 0; day < 10; day += 1) {
      await passDays(1);
      found.push('orders' in failures(await prove()));
    }
    expect(found.slice(4), seeded).toContain(true);
    expect(found.slice(found.indexOf(true)), 'once found, it is not forgotten').not.toContain(
      false,
    );
  });

  test('makes up the days on which nothing ran', async () => {
    await fill(SEED, 30);
    await prove();
    await prove();
    await passDays(100);
    const report = await prove();
    expect(countOf(report, 'orders')).toBeGreaterThan(0);
    expect(report.proof).toMatchObject({ ranges: 0, due: 0 });
  });
});

describe('an incremental run', () => {
  test('finds at once what changed through the program, and only that', async () => {
    await fill(SEED, 20);
    await prove();
    await settle();
    await prove({ fullDays: 365, rangeRows: 1_000 });
    await prove({ fullDays: 365, rangeRows: 1_000 });
    const order = unique('ord');
    const payment = paymentObject({ metadata: { order_id: order } });
    await applyEach(db, testApplier(db), [eventBody(payment)]);
    await damage(
      'resources',
      `update resources set amount_minor = 1 where id = '${payment.payment_id}'`,
    );
    const seen = nothingSeen();
    const report = await prove({ fullDays: 365, rangeRows: 1_000, checkers: [recording(seen)] });
    expect(failures(report)).toEqual({
      resources: [`payment:${payment.payment_id}`],
    });
    expect(seen.orders).toEqual([`order:${order}`]);
    expect(seen.resources).toEqual([`payment:${payment.payment_id}`]);
    expect(seen.events).toHaveLength(1);
  });

  test('repeats what failed until it passes, also when a new round has begun', async () => {
    await fill(SEED, 20);
    await prove();
    await settle();
    const [order] = await db.query<{ key: string; status: string }>(
      'select order_key as key, status from orders order by 1 limit 1',
    );
    const set = (status: string | undefined) =>
      damage('orders', `update orders set status = '${status}' where order_key = '${order?.key}'`);
    await set('nonsense');
    expect(failures(await prove({ mode: 'full' }))).toEqual({ orders: [`order:${order?.key}`] });
    for (let run = 0; run < 3; run += 1) {
      if (run === 2) await passDays(10);
      expect(failures(await prove()), `run ${run}`).toEqual({ orders: [`order:${order?.key}`] });
      expect((await readProof(db)).failures).toBeGreaterThan(0);
    }
    await set(order?.status);
    expect(failures(await prove())).toEqual({});
    expect(await readProof(db)).toMatchObject({ failures: 0, failedRanges: 0 });
  });

  test('reports an event that stays unapplied, and one that is lost', async () => {
    await fill(SEED, 5);
    await prove();
    const [forgotten, lost] = await receive(db, [
      eventBody(paymentObject()),
      eventBody(paymentObject()),
    ]);
    await db.query('delete from pending where webhook_event_id = $1', [forgotten]);
    await damage('webhook_events', `delete from webhook_events where id = ${lost}`);
    for (const run of [1, 2]) {
      expect(failures(await prove()), `run ${run}`).toEqual({
        inbox: [`event:${forgotten}`, `event:${lost}`],
      });
    }
  });

  test('proves everything when the feed has lost changes that no run has seen', async () => {
    await fill(SEED, 20);
    await prove();
    await prove();
    await damage('changes', 'delete from changes');
    const report = await prove();
    expect(countOf(report, 'orders')).toBe((await stored()).orders.length);
  });
});

describe('a run that was interrupted', () => {
  test('is continued by the next one: --full checks each range once and reports all of them', async () => {
    await fill(SEED, 30);
    await damage(
      'orders',
      `update orders set status = 'nonsense'
      where order_key = (select min(order_key) from orders)`,
    );
    const seen = nothingSeen();
    const checker = recording(seen);
    let left = 7;
    const dying: Checker = (task) => {
      left -= 1;
      return left < 0 ? Promise.reject(new Error('killed')) : checker(task);
    };
    await expect(prove({ mode: 'full', checkers: [dying] })).rejects.toThrow('killed');
    const report = await prove({ mode: 'full', checkers: [checker] });
    expect(report.continuedFrom?.checked).toBe(7);
    const all = await stored();
    expect(sorted(seen.events)).toEqual(sorted(all.events));
    expect(sorted(seen.resources)).toEqual(sorted(all.resources));
    expect(countOf(report, 'inbox')).toBe(all.events.length);
    expect(countOf(report, 'resources')).toBe(all.resources.length);
    expect(Object.keys(failures(report))).toEqual(['orders']);
    expect(report.balances.length).toBeGreaterThan(0);
  });

  test('a run that is out of time leaves the rest to the next one', async () => {
    await fill(SEED, 20);
    const first = await prove({ maxSeconds: 0 });
    expect(first.ranges).toBe(0);
    expect(first.proof.due).toBeGreaterThan(0);
    const second = await prove();
    expect(countOf(second, 'orders')).toBe((await stored()).orders.length);
    expect(second.proof).toMatchObject({ due: 0 });
  });

  test('two runs at once: the second one ends', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const waiting: Checker = async (task) => {
      await held;
      return inline(task);
    };
    let isEntered: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => {
      isEntered = resolve;
    });
    const first = prove({
      checkers: [
        (task) => {
          isEntered();
          return waiting(task);
        },
      ],
    });
    await entered;
    await expect(prove()).rejects.toThrow('another run of verify is under way');
    release();
    expect((await first).passed).toBe(true);
  });
});

describe('a missing body', () => {
  const missing = 'its body is missing and nothing records why';
  const problems = (report: ProofReport) =>
    report.checks.flatMap(({ offenders }) => offenders.map(({ problem }) => problem));

  test('is reported', async () => {
    await fill(SEED, 2);
    await damage('webhook_bodies', 'delete from webhook_bodies where webhook_event_id = 3');
    const report = await prove({ mode: 'full' });
    expect(failures(report)).toEqual({ inbox: ['event:3'] });
    expect(problems(report)).toEqual([missing]);
  });

  test('is not reported if it was moved while the inbox was read', async () => {
    await fill(SEED, 2);
    const [moved] = await db.query<{ body: Buffer }>(
      'select body from webhook_bodies where webhook_event_id = 3',
    );
    await damage('webhook_bodies', 'delete from webhook_bodies where webhook_event_id = 3');
    let isMoved = false;
    const move = async (text: string) => {
      if (isMoved || !text.includes('"isPending"')) return;
      isMoved = true;
      await db.query('insert into kept_bodies (webhook_event_id, body) values (3, $1)', [
        moved?.body,
      ]);
    };
    const checker: Checker = (task) =>
      checkRange(
        {
          query: db.query,
          transaction: (work) =>
            db.transaction((tx) =>
              work({
                query: async (text, values) => {
                  const rows = await tx.query<never>(text, values);
                  await move(text);
                  return rows;
                },
              }),
            ),
        },
        task,
      );
    expect(problems(await prove({ mode: 'full', checkers: [checker] }))).toEqual([]);
    expect(isMoved).toBe(true);
  });

  test('is no failure if retention removed it, except of an event that waits for it', async () => {
    await fill(SEED, 2);
    const [waiting] = await receive(db, [eventBody(paymentObject())]);
    await settle();
    await damage('webhook_bodies', 'delete from webhook_bodies');
    await db.query(
      `insert into body_days (day, state, removed_at)
       select distinct body_day, 'removed', timestamptz '2026-11-22' from webhook_events
       on conflict (day) do update set state = 'removed', removed_at = excluded.removed_at`,
    );
    const report = await prove({ mode: 'full' });
    expect(failures(report)).toEqual({ inbox: [`event:${waiting}`] });
    expect(problems(report)).toEqual([
      'it is pending, but its body was removed on 2026-11-22 by retention',
    ]);
  });
});

const isPositive = (value: number): boolean => value > 0;

const scheduledProof = (parts: Pick<ScheduledProofParts, 'sleep' | 'signal'>) =>
  createScheduledProof({
    ...parts,
    db,
    log: silentLog,
    merchantId: MERCHANT_ID,
    chainKey: undefined,
    fullDays: 30,
  });

test('the scheduled run rests after each range, and a stop ends it before the next', async () => {
  await fill(SEED, 5);
  const stopping = new AbortController();
  const rests: number[] = [];
  const step = scheduledProof({
    signal: stopping.signal,
    sleep: (restMs) => {
      rests.push(restMs);
      if (rests.length === 2) stopping.abort();
      return Promise.resolve();
    },
  });
  await step();
  const [ranges] = await db.query<{ checked: number; due: number }>(
    `select count(checked_at) as checked, count(*) filter (where is_due) as due from verify_ranges`,
  );
  expect(ranges).toEqual({ checked: 2, due: expect.toSatisfy(isPositive) });
  expect(rests).toEqual([expect.toSatisfy(isPositive), expect.toSatisfy(isPositive)]);
});

test('the scheduled run raises an alert about damage, and resolves it once the rows pass', async () => {
  await fill(SEED, 5);
  const { signal } = new AbortController();
  const step = scheduledProof({ signal, sleep: () => Promise.resolve() });
  const watch = createSystemWatch({ db, log: silentLog, isReconciling: false });
  const alerts = async () => {
    await step();
    await watch();
    return db.query(`select severity, state from alerts where rule = 'verify_failed'`);
  };
  expect(await alerts()).toEqual([]);
  await damage('orders', `update orders set order_id = order_id || 'x', status = 'x' || status`);
  await db.query('delete from verify_position');
  await db.query('delete from verify_ranges');
  await db.query('delete from verify_rounds');
  expect(await alerts()).toEqual([{ severity: 'critical', state: 'open' }]);
  await damage(
    'orders',
    `update orders set order_id = substr(order_id, 1, length(order_id) - 1),
    status = substr(status, 2)`,
  );
  expect(await alerts()).toEqual([{ severity: 'critical', state: 'resolved' }]);
});

test('threads find what one connection finds', async () => {
  await fill(SEED, 20);
  await damage(
    'resources',
    `update resources set amount_minor = 1
    where (kind, id) = (select kind, min(id) from resources where kind = 'payment' group by kind)`,
  );
  // How many ranges a round has follows the estimates of the planner, which autovacuum changes at any time.
  await db.query('vacuum analyze resources, orders, transfers');
  const alone = await prove({ mode: 'full' });
  const threads = startThreads(3, { connectionString: db.url });
  const together = await prove({ mode: 'full', checkers: threads.checkers });
  await threads.close();
  expect(alone.passed).toBe(false);
  // The range that failed is repeated beside the new round.
  expect(together.ranges).toBe(alone.ranges + 1);
  expect(failures(together)).toEqual(failures(alone));
  for (const name of ['inbox', 'snapshots', 'resources', 'orders', 'chain']) {
    expect(countOf(together, name), name).toBe(countOf(alone, name));
  }
});

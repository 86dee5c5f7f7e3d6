/**
 * Alerts under faults: a shop trades while the service has random faults and variants, the program runs in
 * its own process, and its alerts are compared with the sandbox's history. No alert is false, missing after
 * the final run, or opened or sent twice.
 *
 * ALARM_ORDERS sets the number of orders, a thousand for each installation; ALARM_SEED the first seed.
 */
import { stdout } from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupBy } from '../../src/platform/collections.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import {
  type ClockSetting,
  evaluateAlerts,
  type ListRun,
  type RaisedAlert,
  type State,
  type Verdict,
} from '../support/alarmOracle.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import {
  type Environment,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { seededRandom } from '../support/random.ts';
import { randomFaults } from '../support/randomFaults.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { differencesOf, trade } from '../support/trade.ts';
import { waitFor } from '../support/waitFor.ts';

const { ALARM_ORDERS = '80', ALARM_SEED = '505' } = process.env;
const ORDERS = Number(ALARM_ORDERS);
const ORDERS_PER_INSTALLATION = 1_000;
const ROUNDS = 6;
/** All rounds together stay below the five minutes by which a service's clock may be ahead. */
const ROUND_MS = 20_000;
const CLOSED_AFTER_MS = 95_000;
/**
 * An excess takes three minutes if its first confirmation comes just too early: one until it may be
 * retrieved, one until it is retrieved again, and one until alerts are swept. The limit is generous, for a
 * busy machine.
 */
const SETTLED_WITHIN_MS = 8 * 60_000;
const TIMEOUT_MS = 20 * 60_000;

const INSTALLATIONS = Array.from(
  { length: Math.ceil(ORDERS / ORDERS_PER_INSTALLATION) },
  (_, index) => {
    const seed = Number(ALARM_SEED) + index;
    const random = seededRandom(seed);
    const faults = randomFaults(seed, { index: seed - 501, random, pace: 'minutes' });
    const orders = Math.min(ORDERS_PER_INSTALLATION, ORDERS - index * ORDERS_PER_INSTALLATION);
    return [
      `seed ${seed}, ${orders} orders: ${faults.names}`,
      { seed, random, faults, orders },
    ] as const;
  },
);

type Faults = (typeof INSTALLATIONS)[number][1]['faults']['during'];

let db: TestDatabase;
let sandbox: TestSandbox;
let service: Database;
let receiver: HttpReceiver;
let program: Program;
let env: Environment;
/** When the service's clock was stopped after the trade, so that nothing becomes due during the run. */
let stoppedMs: number | undefined;
let clockSettings: ClockSetting[];

beforeEach(async () => {
  stoppedMs = undefined;
  clockSettings = [];
  [db, sandbox, receiver] = await Promise.all([
    createTestDatabase(),
    startTestSandbox({ clock: { nowMs: () => stoppedMs ?? Date.now() } }),
    startHttpReceiver(SIGNING_SECRET),
  ]);
  service = createDatabase({
    connectionString: sandbox.databaseUrl,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 1,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    WEBHOOK_SECRETS: SANDBOX_SECRET,
    ALERT_WEBHOOK_URL: receiver.url,
    ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
  });
  const roles = 'receiver,events,reconcile,alerts,scheduler';
  program = spawnProgram('bin/tallyhook.js', ['start', '--roles', roles], { env });
});
afterEach(async () => {
  program.kill('SIGKILL');
  await program.exit;
  await service.close();
  await sandbox.close();
  await receiver.close();
  await db.drop();
});

/** Waits for the first import. Changes observed later are not history. */
function firstImport(): Promise<void> {
  return waitFor('the first import to end', async () => {
    const [row] = await db.query<{ done: number }>(
      'select count(*) as done from reconcile_streams where watermark_at is not null',
    );
    return row?.done === 4;
  });
}

function allApplied(): Promise<void> {
  const deadlineMs = SETTLED_WITHIN_MS;
  return waitFor(
    'every event to be applied',
    async () => {
      const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
      return row?.left === 0;
    },
    deadlineMs,
  );
}

async function readStates(): Promise<readonly State[]> {
  const rows = await service.query<Omit<State, 'untilMs'> & { untilMs: number | null }>(
    `select kind, id, case kind when 'payment' then id else parent_id end as "paymentId",
            state->'metadata'->>'order_id' as "orderId", status,
            state->>'dispute_stage' as stage, currency, (state->>'amount')::bigint as amount,
            coalesce((state->>'amount_received')::bigint, 0) as received,
            (extract(epoch from recorded_at) * 1000)::bigint as "fromMs",
            (extract(epoch from valid_until) * 1000)::bigint as "untilMs"
       from (select kind, id, parent_id, status, currency, state, recorded_at, valid_until
               from sandbox.past_resources
              union all
             select kind, id, parent_id, status, currency, state, recorded_at, null
               from sandbox.resources) as all_states
      limit 1000000`,
  );
  return rows.map((row) => ({ ...row, untilMs: row.untilMs ?? Number.POSITIVE_INFINITY }));
}

function readAlerts(): Promise<RaisedAlert[]> {
  return db.query('select rule, subject, variant from alerts order by id limit 1000000');
}

function readRuns(): Promise<ListRun[]> {
  return db.query(
    `select stream, (extract(epoch from started_at) * 1000)::bigint as "startedMs",
            (extract(epoch from to_at) * 1000)::bigint as "watermarkMs"
       from reconcile_runs
      where mode = 'full' and state = 'done' and not is_dry_run
      order by id
      limit 10000`,
  );
}

/** Sets faults, and records the time that the service's clock then shows. */
async function setFaults(faults: Faults): Promise<void> {
  await sandbox.control('PUT', '/faults', faults);
  const { now } = await sandbox.control('GET', '/clock');
  const shownMs = Date.parse(now) + (faults.clock_offset_ms ?? 0);
  clockSettings.push({ setMs: Date.now(), shownMs });
}

/**
 * Stops the service's clock. Nothing changes any more, so the lag of views is removed: it is measured by
 * that clock, and they would never show the last seconds before it stopped.
 */
async function stopService(faults: Faults): Promise<void> {
  await sandbox.control('POST', '/settle');
  stoppedMs = Date.now();
  await sandbox.control('POST', '/settle');
  const { lists, retrieves } = faults;
  await setFaults({
    ...faults,
    lists: { ...lists, replica_lag_ms: 0 },
    retrieves: { ...retrieves, lag_ms: 0 },
  });
}

/** Whether every notification has been sent. */
async function allSent(): Promise<boolean> {
  const [row] = await db.query<{ left: number }>(
    `select (select count(*) from alert_outbox)
          + (select count(*) from messages where state = 'due') as left`,
  );
  return row?.left === 0;
}

interface SentAlert {
  readonly alert_id: number;
  readonly type: string;
}

/** Notifications that were sent to one channel in two messages. */
function sentTwice(): readonly string[] {
  const messages = new Map(receiver.accepted().map((post) => [post.id, post.body]));
  const sent = [...messages].flatMap(([id, body]) => {
    const { data } = JSON.parse(body) as { data: SentAlert & { urgent?: readonly SentAlert[] } };
    const own = data.urgent ?? (data.alert_id === undefined ? [] : [data]);
    return own.map(({ alert_id: alertId, type }) => ({ id, about: `${alertId} ${type}` }));
  });
  return [...groupBy(sent, ({ about }) => about)].flatMap(([about, own]) =>
    own.length > 1 ? [`alert ${about}: sent in ${own.map(({ id }) => id).join(' and ')}`] : [],
  );
}

test.each(INSTALLATIONS)(
  'no alert is false, missing or sent twice, %s',
  async (_name, { seed, random, faults, orders }) => {
    await sandbox.control('PUT', '/webhook', { url: await webhookUrlOf(program) });
    await firstImport();
    await setFaults(faults.during);
    for (let round = 0; round < ROUNDS; round += 1) {
      if (faults.isClockRepaired && round === ROUNDS / 2) {
        await setFaults({ ...faults.during, clock_offset_ms: 0 });
      }
      const options = { orders: Math.ceil(orders / ROUNDS), random };
      await trade(sandbox, `${seed}_${round}`, options);
      await sandbox.advance(ROUND_MS);
    }
    await setFaults(faults.after);
    await sandbox.advance(CLOSED_AFTER_MS);
    await stopService(faults.after);
    await allApplied();
    const from = new Date(Date.now() - 130 * DAY_MS).toISOString();
    const args = ['reconcile', '--mode', 'full', '--from', from, '--json'];
    expect(await runTallyhookProcess(args, { env })).toMatchObject({ code: 0 });

    expect(await differencesOf(db, sandbox)).toEqual([]);

    const verdict = await settledVerdict(faults.during);

    const duplicates = [...verdict.duplicates, ...sentTwice()];
    const raised = await readAlerts();
    report(raised, { ...verdict, duplicates });
    recordFigures({
      kind: 'alerts',
      seed,
      orders: Math.ceil(orders / ROUNDS) * ROUNDS,
      raised: raised.length,
      false: verdict.falseAlerts.length,
      missing: verdict.missing.length,
      doubled: duplicates.length,
    });
    expect(verdict.falseAlerts.map((alert) => `${alert.rule} ${alert.subject}`)).toEqual([]);
    expect(verdict.missing).toEqual([]);
    expect(duplicates).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Waits until no expected alert is missing and every notification is sent, or until the limit. */
async function settledVerdict(faults: Faults): Promise<Verdict> {
  const endMs = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const verdict = evaluateAlerts({
      states: await readStates(),
      alerts: await readAlerts(),
      faults,
      clock: clockSettings,
      runs: await readRuns(),
    });
    const isSettled = verdict.missing.length === 0 && (await allSent());
    if (isSettled || Date.now() > endMs) return verdict;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

function report(alerts: readonly RaisedAlert[], verdict: Verdict): void {
  const { falseAlerts, missing, duplicates } = verdict;
  const byRule = [...groupBy(alerts, ({ rule }) => rule)].toSorted();
  const lines = [
    ...byRule.map(([rule, own]) => `  ${rule.padEnd(24)} ${own.length}`),
    ...falseAlerts
      .slice(0, 20)
      .map((alert) => `FALSE ${alert.rule} ${alert.subject} ${alert.variant}`),
    ...missing.slice(0, 20).map((one) => `MISSING ${one}`),
    ...duplicates.slice(0, 20).map((one) => `DUPLICATE ${one}`),
    `${alerts.length} alerts: ${falseAlerts.length} false, ${missing.length} missing, ${duplicates.length} duplicates`,
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

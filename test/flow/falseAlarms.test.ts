/**
 * Alerts under faults: a shop trades while the service has faults and habits drawn by a seed, the
 * program runs as a process of its own, and its alerts are held against the sandbox's history. None is
 * false, none is missing after the final run, none is opened or sent twice.
 *
 * ALARM_ORDERS asks for more orders, a thousand for each installation; ALARM_SEED begins elsewhere.
 */
import { stdout } from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupBy } from '../../src/platform/collections.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
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
  runTallyhook,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { seededRandom } from '../support/random.ts';
import { randomFaults } from '../support/randomFaults.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { differencesOf, trade } from '../support/trade.ts';
import { waitFor } from '../support/waitFor.ts';

const { ALARM_ORDERS = '80', ALARM_SEED = '505' } = process.env;
const ORDERS = Number(ALARM_ORDERS);
const ORDERS_PER_INSTALLATION = 1_000;
const ROUNDS = 6;
/** All of it stays below the five minutes by which a service may be ahead of the database's clock. */
const ROUND_MS = 20_000;
const CLOSED_AFTER_MS = 95_000;
/**
 * An excess takes three minutes where its first confirmation comes just too early: a minute until it may
 * be retrieved for that, another one until it is retrieved again, and one until alerts are swept. It is a
 * limit for busy machines, not a wait.
 */
const SETTLED_WITHIN_MS = 8 * 60_000;
const TIMEOUT_MS = 20 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const INSTALLATIONS = Array.from(
  { length: Math.ceil(ORDERS / ORDERS_PER_INSTALLATION) },
  (_, index) => {
    const seed = Number(ALARM_SEED) + index;
    const random = seededRandom(seed);
    const drawn = randomFaults(seed, { index: seed - 501, random, pace: 'minutes' });
    const orders = Math.min(ORDERS_PER_INSTALLATION, ORDERS - index * ORDERS_PER_INSTALLATION);
    return [
      `seed ${seed}, ${orders} orders: ${drawn.names}`,
      { seed, random, drawn, orders },
    ] as const;
  },
);

type Faults = (typeof INSTALLATIONS)[number][1]['drawn']['during'];

let db: TestDatabase;
let sandbox: TestSandbox;
let truth: Database;
let receiver: HttpReceiver;
let program: Program;
let env: Environment;
/** Once the trade is over the service's clock stands still: nothing is due behind the run's back. */
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
  truth = createDatabase({
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
  await truth.close();
  await sandbox.close();
  await receiver.close();
  await db.drop();
});

/** What comes later is news, not history. */
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
    'everything that arrived to be applied',
    async () => {
      const [row] = await db.query<{ left: number }>('select count(*) as left from pending');
      return row?.left === 0;
    },
    deadlineMs,
  );
}

async function readStates(): Promise<readonly State[]> {
  const rows = await truth.query<Omit<State, 'untilMs'> & { untilMs: number | null }>(
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

/** Sets faults, and notes what the service's clock shows with them. */
async function setFaults(faults: Faults): Promise<void> {
  await sandbox.control('PUT', '/faults', faults);
  const { now } = await sandbox.control('GET', '/clock');
  const shownMs = Date.parse(now) + (faults.clock_offset_ms ?? 0);
  clockSettings.push({ setMs: Date.now(), shownMs });
}

/**
 * Stops the service's clock. Nothing changes from here on, so lagging views catch up; as their lag goes
 * by that clock, they would otherwise show the last seconds before it stopped never.
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

/** Whether everything that was to be sent has been sent. */
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

/** Alerts that one channel was sent in two messages for one type. */
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
  async (_name, { seed, random, drawn, orders }) => {
    await sandbox.control('PUT', '/webhook', { url: await webhookUrlOf(program) });
    await firstImport();
    await setFaults(drawn.during);
    for (let round = 0; round < ROUNDS; round += 1) {
      if (drawn.isClockRepaired && round === ROUNDS / 2) {
        await setFaults({ ...drawn.during, clock_offset_ms: 0 });
      }
      await trade(sandbox, `${seed}_${round}`, { orders: Math.ceil(orders / ROUNDS), random });
      await sandbox.advance(ROUND_MS);
    }
    await setFaults(drawn.after);
    await sandbox.advance(CLOSED_AFTER_MS);
    await stopService(drawn.after);
    await allApplied();
    const from = new Date(Date.now() - 130 * DAY_MS).toISOString();
    const args = ['reconcile', '--mode', 'full', '--from', from, '--json'];
    expect(await runTallyhook(args, { env })).toMatchObject({ code: 0 });

    expect(await differencesOf(db, sandbox)).toEqual([]);

    const verdict = await settledVerdict(drawn.during);

    const duplicates = [...verdict.duplicates, ...sentTwice()];
    report(await readAlerts(), { ...verdict, duplicates });
    expect(verdict.falseAlerts.map((alert) => `${alert.rule} ${alert.subject}`)).toEqual([]);
    expect(verdict.missing).toEqual([]);
    expect(duplicates).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Waits for what is owed, and until everything was sent; what is still missing then is missing. */
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

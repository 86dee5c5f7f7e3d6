/**
 * Days on which more or other things happen than usual, beside a flood of new events on the same machine:
 *
 * 1. floods: the same events again, other bodies under known event ids;
 * 2. bursts of as many events as an order may have, about many orders and about one;
 * 3. a backlog that a worker drains while events arrive, a replay of the oldest ones, and the proof of their ledger;
 * 4. order webhooks that wait for a process that delivers them.
 *
 * *Finished* is what is accepted and off `pending`, by the time in which it was sent and drained.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startReplayAs } from '../src/actions/replayRuns.ts';
import { type ReplayRun, readReplayRun } from '../src/ledger/read/store/replayRuns.ts';
import { createDatabase, type Database } from '../src/platform/db/database.ts';
import { createLog } from '../src/platform/log.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { type Accounts, account, type Bench, postgresOf, rateOf, startBare } from './bench.ts';
import { type CpuUse, watchCpu } from './cpu.ts';
import { type BenchDatabase, countKept } from './database.ts';
import { drain } from './endToEnd.ts';
import { type Latency, nowMs, type RunResult } from './loadProtocol.ts';
import type { Started } from './processes.ts';
import { startShop } from './shop.ts';
import { startEventsWorker, startTallyhook, type Tallyhook } from './tallyhook.ts';

export interface BadDaysReport {
  readonly barePerSecond: number;
  /** The first is of new events. */
  readonly floods: readonly Flood[];
  /** The first is about many orders. */
  readonly bursts: readonly Flood[];
  readonly rest: readonly Work[];
  /** Whether `verify --full` found nothing. */
  readonly proved: boolean;
  readonly accounts: readonly Accounts[];
}

export interface Flood {
  readonly name: string;
  readonly acceptedPerSecond: number;
  readonly finishedPerSecond: number;
  readonly replyMicros: Latency;
  readonly cpu: CpuUse;
}

export interface Work {
  readonly name: string;
  readonly events: number;
  readonly seconds: number;
  readonly cpu: CpuUse;
}

const SEED = 8;
/** Events prepared, as a share of what the bare route takes; more than were ever accepted. */
const PREPARED_OF_BARE = 0.8;
const WARM_UP_SECONDS = 4;
const SLICE_SECONDS = 2;
/** Of one order; with each step of a payment, the order is derived from all of them. */
const EVENTS_OF_A_BURST = 2_000;
/** A burst takes half a second, so one alone shows little. */
const BURSTS_OF_EACH_KIND = 5;
const ARRIVING_PER_SECOND = 500;
/** The load holds them in memory. */
const PREPARED_AT_A_TIME = 100_000;
const EVENTS_FOR_THE_SHOP = 20_000;
const POLL_EVERY_MS = 100;
const REPLAY_TIMEOUT_MS = 60_000;

export async function runBadDays(bench: Bench): Promise<BadDaysReport> {
  const bare = await startBare(bench, SEED);
  await bare.stop();
  const db = await bench.postgres.createDatabase('bench_bad_days');
  const tallyhook = await startTallyhook(bench, 'processes', db.url);
  const subject: Subject = { bench, db, tallyhook };
  await bench.load.openStream(SEED);
  await bench.load.prepare(bare.roughRate * PREPARED_OF_BARE * bench.options.seconds);
  const runs: RunResult[] = [];
  const floods = [
    await flood(subject, 'new events', runs),
    await floodOfDuplicates(subject, runs),
    await floodOfVariants(subject),
  ];
  const bursts = await runBursts(subject, runs);
  await tallyhook.stop();
  const accounts = account(runs, await countKept(db), true);
  await db.drop();
  const backlog = await workThroughBacklog(bench);
  const delivery = await deliverBacklog(bench);
  return {
    barePerSecond: bare.roughRate,
    floods,
    bursts,
    rest: [...backlog.rest, delivery.work],
    proved: backlog.isProved,
    accounts: [accounts, backlog.accounts, delivery.accounts],
  };
}

interface Subject {
  readonly bench: Bench;
  readonly db: BenchDatabase;
  readonly tallyhook: Tallyhook;
}

function watch({ bench, tallyhook }: Subject) {
  return watchCpu([...tallyhook.processes, postgresOf(bench), bench.load.process]);
}

/** Sends what is prepared, as fast as it is accepted. */
async function flood(
  subject: Subject,
  name: string,
  runs: RunResult[],
  request: { readonly repeat?: boolean } = {},
): Promise<Flood> {
  const { bench, db, tallyhook } = subject;
  const cpu = watch(subject);
  const [seconds, warmUpSeconds] = [bench.options.seconds, WARM_UP_SECONDS];
  const result = await bench.load.run(
    { ...request, port: tallyhook.port, seconds, warmUpSeconds },
    { onCounting: cpu.start },
  );
  const use = cpu.stop();
  const drainSeconds = await drain(db);
  runs.push(result);
  return {
    name,
    acceptedPerSecond: rateOf(result),
    cpu: use,
    replyMicros: result.replyMicros,
    finishedPerSecond: result.counted / (result.countedSeconds + drainSeconds),
  };
}

/** Sends what is left of the prepared events. */
async function sendRest({ bench, db, tallyhook }: Subject, runs: RunResult[]): Promise<void> {
  for (;;) {
    const result = await bench.load.run({ port: tallyhook.port, seconds: SLICE_SECONDS });
    runs.push(result);
    if (result.ranOut) break;
  }
  await drain(db);
}

async function floodOfDuplicates(subject: Subject, runs: RunResult[]): Promise<Flood> {
  await sendRest(subject, runs);
  // Not among the runs: nothing of it is stored.
  return await flood(subject, 'the same events again', [], { repeat: true });
}

/** Not among the runs either: the ids are those of events that are counted already. */
async function floodOfVariants(subject: Subject): Promise<Flood> {
  const before = await countVariants(subject.db);
  await subject.bench.load.vary();
  const own: RunResult[] = [];
  const found = await flood(subject, 'other bodies under known ids', own);
  const acknowledged = own.reduce((sum, run) => sum + run.acknowledged, 0);
  const stored = (await countVariants(subject.db)) - before;
  if (stored < acknowledged) {
    throw new Error(`${acknowledged} other bodies were acknowledged and ${stored} are stored`);
  }
  return found;
}

async function countVariants(db: BenchDatabase): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from event_variants');
  return row?.count ?? 0;
}

/** Bursts about many orders and about one in turn; the median of each kind. */
async function runBursts(subject: Subject, runs: RunResult[]): Promise<readonly Flood[]> {
  const ofMany: Flood[] = [];
  const ofOne: Flood[] = [];
  for (let turn = 1; turn <= BURSTS_OF_EACH_KIND; turn += 1) {
    await subject.bench.load.openStream(SEED + 2 * turn);
    ofMany.push(await burst(subject, 'about many orders', runs));
    await subject.bench.load.openStreamOfOneOrder(SEED + 2 * turn + 1);
    ofOne.push(await burst(subject, 'about one order', runs));
  }
  return [ofMany, ofOne].map(medianOf);
}

async function burst(subject: Subject, about: string, runs: RunResult[]): Promise<Flood> {
  await subject.bench.load.prepare(EVENTS_OF_A_BURST);
  const cpu = watch(subject);
  cpu.start();
  const startMs = nowMs();
  const own: RunResult[] = [];
  await sendRest(subject, own);
  const seconds = (nowMs() - startMs) / 1_000;
  runs.push(...own);
  const [first] = own;
  return {
    name: `${EVENTS_OF_A_BURST.toLocaleString('en')} ${about}`,
    acceptedPerSecond: first ? rateOf(first) : 0,
    finishedPerSecond: EVENTS_OF_A_BURST / seconds,
    replyMicros: first?.replyMicros ?? { p50: 0, p99: 0, max: 0 },
    cpu: cpu.stop(),
  };
}

function medianOf(bursts: readonly Flood[]): Flood {
  const ordered = [...bursts].sort((a, b) => a.finishedPerSecond - b.finishedPerSecond);
  const middle = ordered[Math.floor(ordered.length / 2)];
  if (!middle) throw new Error('there was no burst');
  return middle;
}

/** What follows an outage of the workers, on a database of its own. */
async function workThroughBacklog(bench: Bench): Promise<{
  readonly rest: readonly Work[];
  readonly isProved: boolean;
  readonly accounts: Accounts;
}> {
  const db = await bench.postgres.createDatabase('bench_backlog');
  const runs: RunResult[] = [];
  const receiver = await startTallyhook(bench, 'receiver', db.url);
  await receiveBacklog(bench, receiver, runs);
  const worker = await startEventsWorker(bench, db.url);
  const processes = [...receiver.processes, worker];
  const drained = await drainBacklog({ bench, db, port: receiver.port, processes }, runs);
  await receiver.stop();
  await worker.stop();
  const tallyhook = await startTallyhook(bench, 'processes', db.url);
  const replay = await replayOldest({ bench, db, tallyhook });
  await tallyhook.stop();
  const proof = await prove(bench, db);
  const accounts = account(runs, await countKept(db), true);
  await db.drop();
  return { rest: [drained, replay, proof.work], isProved: proof.isProved, accounts };
}

/** No worker runs. The load holds a part of the backlog at a time. */
async function receiveBacklog(
  { load, options }: Bench,
  { port }: Tallyhook,
  runs: RunResult[],
): Promise<void> {
  await load.openStream(SEED + 2);
  for (let left = options.backlog; left > 0; left -= PREPARED_AT_A_TIME) {
    await load.prepare(Math.min(left, PREPARED_AT_A_TIME));
    do runs.push(await load.run({ port, seconds: SLICE_SECONDS }));
    while (!runs.at(-1)?.ranOut);
  }
}

interface Draining {
  readonly bench: Bench;
  readonly db: BenchDatabase;
  readonly port: number;
  readonly processes: readonly Started[];
}

/** Until no more is pending than arrives within a second. */
async function drainBacklog(
  { bench, db, port, processes }: Draining,
  runs: RunResult[],
): Promise<Work> {
  const { load, options } = bench;
  const cpu = watchCpu([...processes, postgresOf(bench), load.process]);
  cpu.start();
  const startMs = nowMs();
  let work: Work | undefined;
  const draining = drain(db, ARRIVING_PER_SECOND).then(async () => {
    const use = cpu.stop();
    const seconds = (nowMs() - startMs) / 1_000;
    const { stored, pending } = await countKept(db);
    const name = `backlog, ${ARRIVING_PER_SECOND}/s arriving`;
    work = { name, events: stored - pending, seconds, cpu: use };
  });
  while (!work) {
    await load.prepare(ARRIVING_PER_SECOND * options.seconds);
    const { seconds } = options;
    runs.push(await load.run({ port, seconds, ratePerSecond: ARRIVING_PER_SECOND }));
  }
  await draining;
  await drain(db);
  return work;
}

/** Replays the oldest events, as a person can from the console. */
async function replayOldest(subject: Subject): Promise<Work> {
  const { bench, db } = subject;
  const filter = { to: await receivedAtOf(db, bench.options.replay) };
  const actor = { kind: 'process', role: 'process', name: 'bench', origin: 'bench' } as const;
  const cpu = watch(subject);
  cpu.start();
  const startMs = nowMs();
  const connected = openDatabase(db.url);
  const run = await startReplayAs({ db: connected }, actor, { filter, reason: 'bench' });
  await connected.close();
  let now: ReplayRun | undefined = run;
  while (now?.finishedAt === null) {
    await pause(POLL_EVERY_MS);
    now = await readReplayRun(db, run.id);
  }
  await drain(db);
  const seconds = (nowMs() - startMs) / 1_000;
  return { name: 'replay', events: now?.replayed ?? 0, seconds, cpu: cpu.stop() };
}

/** When the event after the first `count` was received, as ISO text; undefined if there is none. */
async function receivedAtOf(db: BenchDatabase, count: number): Promise<string | undefined> {
  const [row] = await db.query<{ at: Date }>(
    `select received_at as at from webhook_events order by id offset $1 limit 1`,
    [count],
  );
  return row?.at.toISOString();
}

function openDatabase(url: string): Database {
  return createDatabase({
    connectionString: url,
    applicationName: 'bench',
    maxConnections: 1,
    plans: 'any',
    responseTimeoutMs: REPLAY_TIMEOUT_MS,
    log: createLog('silent'),
  });
}

/** No process with the role `alerts` ran; the shop responds at once. */
async function deliverBacklog(
  bench: Bench,
): Promise<{ readonly work: Work; readonly accounts: Accounts }> {
  const db = await bench.postgres.createDatabase('bench_delivery');
  const shop = await startShop(bench.cleanup);
  const first = await startTallyhook(bench, 'processes', db.url, shop.settings);
  await shop.drain(db);
  await first.stop();
  const withoutAlerts = await startTallyhook(bench, 'processes', db.url);
  const subject: Subject = { bench, db, tallyhook: withoutAlerts };
  const runs: RunResult[] = [];
  await bench.load.openStream(SEED + 3);
  await bench.load.prepare(EVENTS_FOR_THE_SHOP);
  await sendRest(subject, runs);
  await withoutAlerts.stop();
  const tallyhook = await startTallyhook(bench, 'processes', db.url, shop.settings);
  const cpu = watchCpu([...tallyhook.processes, postgresOf(bench)]);
  cpu.start();
  const startMs = nowMs();
  const events = await shop.drain(db);
  const seconds = (nowMs() - startMs) / 1_000;
  const work = { name: 'order webhooks', events, seconds, cpu: cpu.stop() };
  await tallyhook.stop();
  const accounts = account(runs, await countKept(db), true);
  await db.drop();
  return { work, accounts };
}

async function prove(
  bench: Bench,
  db: BenchDatabase,
): Promise<{ readonly work: Work; readonly isProved: boolean }> {
  const { stored } = await countKept(db);
  const cpu = watchCpu([postgresOf(bench)]);
  cpu.start();
  const startMs = nowMs();
  const bin = join(packageRoot(), 'bin', 'tallyhook.js');
  const isProved = await promisify(execFile)(process.execPath, [bin, 'verify', '--full'], {
    env: { PATH: process.env.PATH, DATABASE_URL: db.url },
    cwd: bench.folder,
  }).then(
    () => true,
    () => false,
  );
  const seconds = (nowMs() - startMs) / 1_000;
  const work = { name: 'verify --full', events: stored, seconds, cpu: cpu.stop() };
  return { work, isProved };
}

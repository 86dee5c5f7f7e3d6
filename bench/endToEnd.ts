/**
 * Everything on one machine: what is accepted, what of it is applied meanwhile, and against a bare
 * route that is measured before and after.
 */
import {
  type Accounts,
  account,
  type Bench,
  postgresOf,
  rateOf,
  startBare,
  warningsOf,
} from './bench.ts';
import { type CpuUse, watchCpu } from './cpu.ts';
import { type BenchDatabase, countKept, countPending } from './database.ts';
import { type Latency, nowMs, type RunRequest, type RunResult } from './loadProtocol.ts';
import { type AppliedTimes, startProbe } from './probe.ts';
import { startTallyhook, type Tallyhook } from './tallyhook.ts';

export interface EndToEndReport extends RunReport {
  readonly bareBeforePerSecond: number;
  readonly bareAfterPerSecond: number;
  readonly acceptedOfBare: number;
  readonly appliedOfAccepted: number;
  readonly accounts: Accounts;
}

/** A run with everything running, as both `e2e` and `steady` report it. */
export interface RunReport {
  readonly acceptedPerSecond: number;
  readonly appliedPerSecond: number;
  readonly seconds: number;
  /** After the last reply, until nothing was pending. */
  readonly drainSeconds: number;
  readonly replyMicros: Latency;
  readonly applied: AppliedTimes;
  /** Pending events over time. */
  readonly backlog: readonly BacklogSample[];
  readonly cpu: CpuUse;
  readonly refused: Readonly<Record<string, number>>;
  readonly ranOut: boolean;
  readonly warnings: Readonly<Record<string, readonly string[]>>;
}

export interface BacklogSample {
  readonly atSeconds: number;
  readonly pending: number;
}

const SEED = 2;
const BARE_SECONDS = 6;
const WARM_UP_SECONDS = 4;
const SAMPLE_EVERY = 50;
const BACKLOG_EVERY_MS = 3_000;
const POLL_EVERY_MS = 50;
/** Events prepared, as a share of what the bare route takes; far above what was ever accepted. */
const PREPARED_OF_BARE = 0.9;

export async function runEndToEnd(bench: Bench): Promise<EndToEndReport> {
  const db = await bench.postgres.createDatabase('bench_e2e');
  const { report, runs } = await runEndToEndOn(bench, db);
  const accounts = account(runs, await countKept(db), true);
  await db.drop();
  return { ...report, accounts };
}

/** Runs on a database that may hold events already. */
export async function runEndToEndOn(
  bench: Bench,
  db: BenchDatabase,
  warmUpSeconds = WARM_UP_SECONDS,
): Promise<{
  readonly report: Omit<EndToEndReport, 'accounts'>;
  readonly runs: readonly RunResult[];
}> {
  const { load, options } = bench;
  const bare = await startBare(bench, SEED);
  const measureBare = async () =>
    rateOf(
      await load.run({ port: bare.port, seconds: BARE_SECONDS, warmUpSeconds: 1, repeat: true }),
    );
  const bareBeforePerSecond = await measureBare();

  const tallyhook = await startTallyhook(bench, shapeOf(bench), db.url);
  const most = Math.max(bare.roughRate, bareBeforePerSecond) * PREPARED_OF_BARE;
  // A new stream: no payment may begin with an event that was prepared for the bare route only.
  await load.openStream(SEED);
  await load.prepare(most * (warmUpSeconds + options.seconds));
  const warmUp = await load.run({ port: tallyhook.port, seconds: warmUpSeconds });
  await drain(db);
  const { report, result } = await measureRun(
    bench,
    { db, tallyhook, backlogEveryMs: BACKLOG_EVERY_MS, pollEveryMs: POLL_EVERY_MS },
    { seconds: options.seconds, sampleEvery: SAMPLE_EVERY },
  );
  await tallyhook.stop();

  const bareAfterPerSecond = await measureBare();
  await bare.stop();
  return {
    report: {
      ...report,
      bareBeforePerSecond,
      bareAfterPerSecond,
      acceptedOfBare: report.acceptedPerSecond / ((bareBeforePerSecond + bareAfterPerSecond) / 2),
      appliedOfAccepted: report.appliedPerSecond / report.acceptedPerSecond,
    },
    runs: [warmUp, result],
  };
}

export function shapeOf({ options }: Bench): 'single' | 'processes' {
  return options.isSingleProcess ? 'single' : 'processes';
}

interface Subject {
  readonly db: BenchDatabase;
  readonly tallyhook: Tallyhook;
  readonly backlogEveryMs: number;
  /** Between two polls of the sampled events. */
  readonly pollEveryMs: number;
}

/** Runs the load, from the first counted event to an empty `pending`. */
export async function measureRun(
  bench: Bench,
  { db, tallyhook, backlogEveryMs, pollEveryMs }: Subject,
  request: Pick<RunRequest, 'seconds' | 'sampleEvery'> & Partial<RunRequest>,
): Promise<{ readonly report: RunReport; readonly result: RunResult }> {
  const { load } = bench;
  const probe = startProbe(db, pollEveryMs);
  const backlog = createBacklog(db, backlogEveryMs);
  const own = { name: 'bench', pid: process.pid };
  const cpu = watchCpu([...tallyhook.processes, postgresOf(bench), load.process, own]);
  const result = await load.run(
    { port: tallyhook.port, ...request },
    {
      onCounting: () => {
        cpu.start();
        backlog.start();
      },
      onSample: probe.watch,
    },
  );
  const cpuUse = cpu.stop();
  const pending = await backlog.stop();
  const drainSeconds = await drain(db);
  return {
    result,
    report: {
      acceptedPerSecond: rateOf(result),
      appliedPerSecond: appliedRate(result, pending),
      seconds: result.countedSeconds,
      drainSeconds,
      replyMicros: result.replyMicros,
      applied: await probe.finish(),
      backlog: pending,
      cpu: cpuUse,
      refused: result.refused,
      ranOut: result.ranOut,
      warnings: warningsOf(tallyhook.processes),
    },
  };
}

/** What was pending before or came in, and is pending no more when the load has ended. */
function appliedRate(result: RunResult, backlog: readonly BacklogSample[]): number {
  const first = backlog[0]?.pending ?? 0;
  const last = backlog.at(-1);
  return (first + result.counted - (last?.pending ?? 0)) / (last?.atSeconds ?? 0);
}

/** Counts what is pending: at the start, now and then, and at the end. */
function createBacklog(db: BenchDatabase, everyMs: number) {
  const samples: BacklogSample[] = [];
  let timer: NodeJS.Timeout | undefined;
  let startMs = 0;
  let last: Promise<void> = Promise.resolve();
  const take = (): void => {
    const atSeconds = (nowMs() - startMs) / 1_000;
    last = last.then(async () => {
      samples.push({ atSeconds, pending: await countPending(db) });
    });
  };
  return {
    start: (): void => {
      startMs = nowMs();
      take();
      timer = setInterval(take, everyMs);
    },
    stop: async (): Promise<readonly BacklogSample[]> => {
      clearInterval(timer);
      take();
      await last;
      return samples;
    },
  };
}

const STUCK_AFTER_MS = 90_000;
/** While this many are pending for each millisecond, polling more often would only slow it down. */
const PENDING_PER_MS = 20;
const MIN_POLL_MS = 10;
const MAX_POLL_MS = 10_000;

/**
 * Waits until no more than `most` events are pending, or they have not become fewer for long enough.
 * @returns how many seconds it waited
 */
export async function drain(db: BenchDatabase, most = 0): Promise<number> {
  const startMs = nowMs();
  let fewest = Number.POSITIVE_INFINITY;
  let fewestAtMs = startMs;
  for (;;) {
    const pending = await countPending(db);
    if (pending < fewest) [fewest, fewestAtMs] = [pending, nowMs()];
    if (pending <= most || nowMs() - fewestAtMs > STUCK_AFTER_MS) break;
    const delayMs = Math.min(MAX_POLL_MS, MIN_POLL_MS + pending / PENDING_PER_MS);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  return (nowMs() - startMs) / 1_000;
}

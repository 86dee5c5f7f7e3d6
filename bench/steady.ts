/** A steady load far below what the machine can take: how long it takes to reply and to apply. */
import { type Accounts, account, type Bench } from './bench.ts';
import { countKept } from './database.ts';
import { drain, measureRun, type RunReport, shapeOf } from './endToEnd.ts';
import { type Quantiles, type Thirds, thirdsOf } from './quantiles.ts';
import { startShop } from './shop.ts';
import { startTallyhook } from './tallyhook.ts';

export interface SteadyReport extends RunReport {
  readonly goals: Goals;
  /** Events that were pending. */
  readonly backlogThirds: Thirds;
  readonly isBacklogSteady: boolean;
  /** Undefined where no shop is configured. */
  readonly orderWebhooks: Quantiles | undefined;
  readonly accounts: Accounts;
}

/** From the reply on until an event is applied, in milliseconds. */
interface Goals {
  readonly ratePerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Whether a shop receives order webhooks. */
  readonly hasShop: boolean;
}

const RATES: readonly Goals[] = [
  { ratePerSecond: 500, p50Ms: 15, p99Ms: 50, hasShop: false },
  { ratePerSecond: 50, p50Ms: 15, p99Ms: 30, hasShop: true },
];

const SEED = 3;
/** Processes run for weeks: what is measured is not the compilation of their code. */
const WARM_UP_EVENTS = 5_000;
const WARM_UP_RATE = 250;
/** Of the counted run, at its rate. */
const WARM_UP_SECONDS = 4;
const SAMPLES_PER_SECOND = 50;
const BACKLOG_EVERY_MS = 500;
const POLL_EVERY_MS = 8;
/** Events that may wait more in the last third than in the first, as a share of a second's worth. */
const GROWTH_ALLOWED = 0.1;

export async function runSteady(bench: Bench): Promise<readonly SteadyReport[]> {
  const reports: SteadyReport[] = [];
  for (const goals of RATES) reports.push(await runAt(bench, goals));
  return reports;
}

async function runAt(bench: Bench, goals: Goals): Promise<SteadyReport> {
  const { cleanup, load, options, postgres } = bench;
  const { ratePerSecond, hasShop } = goals;
  const db = await postgres.createDatabase('bench_steady');
  const shop = hasShop ? await startShop(cleanup) : undefined;
  const tallyhook = await startTallyhook(bench, shapeOf(bench), db.url, shop?.settings);
  await load.openStream(SEED);
  await load.prepare(WARM_UP_EVENTS + ratePerSecond * (options.seconds + WARM_UP_SECONDS + 2));
  const warmUp = await load.run({
    port: tallyhook.port,
    ratePerSecond: WARM_UP_RATE,
    seconds: WARM_UP_EVENTS / WARM_UP_RATE,
  });
  await drain(db);
  await shop?.drain(db);
  const { report, result } = await measureRun(
    bench,
    { db, tallyhook, backlogEveryMs: BACKLOG_EVERY_MS, pollEveryMs: POLL_EVERY_MS },
    {
      seconds: options.seconds,
      warmUpSeconds: WARM_UP_SECONDS,
      ratePerSecond,
      sampleEvery: ratePerSecond / SAMPLES_PER_SECOND,
    },
  );
  const accounts = account([warmUp, result], await countKept(db), true);
  const orderWebhooks = await shop?.times(db);
  await tallyhook.stop();
  await db.drop();
  const backlogThirds = thirdsOf(report.backlog.map(({ pending }) => pending));
  return {
    ...report,
    goals,
    backlogThirds,
    isBacklogSteady: backlogThirds.end <= backlogThirds.start + GROWTH_ALLOWED * ratePerSecond,
    orderWebhooks,
    accounts,
  };
}

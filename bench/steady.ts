/** A steady load far below what the machine can take: how long it takes to reply and to apply. */
import { type Accounts, account, type Bench } from './bench.ts';
import { countKept } from './database.ts';
import { type BacklogSample, measureRun, type RunReport, shapeOf } from './endToEnd.ts';
import { startTallyhook } from './tallyhook.ts';

export interface SteadyReport extends RunReport {
  readonly backlogThirds: Thirds;
  readonly isBacklogSteady: boolean;
  readonly accounts: Accounts;
}

/** Mean of what was pending in each third of the run. */
export interface Thirds {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
}

const SEED = 3;
const RATE_PER_SECOND = 500;
const WARM_UP_SECONDS = 4;
const SAMPLE_EVERY = 10;
const BACKLOG_EVERY_MS = 500;
const POLL_EVERY_MS = 8;
/** Events that may wait more in the last third than in the first: a tenth of a second's worth. */
const GROWTH_ALLOWED = 50;

export async function runSteady(bench: Bench): Promise<SteadyReport> {
  const { load, options, postgres } = bench;
  const db = await postgres.createDatabase('bench_steady');
  const tallyhook = await startTallyhook(bench, shapeOf(bench), db.url);
  await load.openStream(SEED);
  await load.prepare(RATE_PER_SECOND * (options.seconds + WARM_UP_SECONDS + 2));
  const { report, result } = await measureRun(
    bench,
    { db, tallyhook, backlogEveryMs: BACKLOG_EVERY_MS, pollEveryMs: POLL_EVERY_MS },
    {
      seconds: options.seconds,
      warmUpSeconds: WARM_UP_SECONDS,
      ratePerSecond: RATE_PER_SECOND,
      sampleEvery: SAMPLE_EVERY,
    },
  );
  const accounts = account([result], await countKept(db), true);
  await tallyhook.stop();
  await db.drop();
  const backlogThirds = thirds(report.backlog);
  return {
    ...report,
    backlogThirds,
    isBacklogSteady: backlogThirds.end <= backlogThirds.start + GROWTH_ALLOWED,
    accounts,
  };
}

function thirds(backlog: readonly BacklogSample[]): Thirds {
  const size = Math.max(1, Math.floor(backlog.length / 3));
  const mean = (samples: readonly BacklogSample[]) =>
    samples.reduce((sum, { pending }) => sum + pending, 0) / Math.max(1, samples.length);
  return {
    start: mean(backlog.slice(0, size)),
    middle: mean(backlog.slice(size, -size)),
    end: mean(backlog.slice(-size)),
  };
}

/** Runs of everything with and without one part, in alternating pairs on one database. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, postgresOf } from './bench.ts';
import type { Cleanup } from './cleanup.ts';
import { type CpuUse, watchCpu } from './cpu.ts';
import { type BenchDatabase, countPending, startPostgres } from './database.ts';
import { measureRun, type RunReport } from './endToEnd.ts';
import { startLoad } from './loadProcess.ts';
import { nowMs } from './loadProtocol.ts';
import { NO_SCENARIO } from './options.ts';
import { createSuspension, type Started } from './processes.ts';
import { quantile } from './quantiles.ts';
import { startTallyhook } from './tallyhook.ts';

const WARM_UP_SECONDS = 2;
const MOST_PER_SECOND = 6_000;
const SAMPLE_EVERY = 1_000;
/** Of receiving a backlog, before it is counted again. */
const FILL_SECONDS = 4;

export interface PairsOptions {
  /** Of the database. */
  readonly name: string;
  readonly seed: number;
  readonly folder: string;
  readonly cleanup: Cleanup;
  /** As many events as the machine takes if it is undefined. */
  readonly ratePerSecond: number | undefined;
}

export interface Pairs {
  readonly db: BenchDatabase;
  /** @param others processes that are measured, too */
  run(seconds: number, others: readonly Started[]): Promise<RunReport>;
  /** Receives until so many events are pending, which nothing applies meanwhile. */
  fillBacklog(count: number): Promise<void>;
  /** Applies the backlog, and receives nothing. */
  applyBacklog(): void;
  /**
   * @param others processes that are measured, too
   * @throws Error if the backlog is over before that
   */
  measureApplying(seconds: number, others: readonly Started[]): Promise<Applied>;
}

export interface Applied {
  readonly perSecond: number;
  readonly cpu: CpuUse;
}

/** Starts Tallyhook with a process for each role. No checkpoint and no vacuum falls into one run of a pair alone. */
export async function startPairs(options: PairsOptions): Promise<Pairs> {
  const { name, seed, folder, cleanup, ratePerSecond } = options;
  const secret = randomBytes(32).toString('hex');
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const db = await postgres.createDatabase(name);
  const load = await startLoad({ secret, cwd: folder, cleanup });
  const bench: Bench = {
    options: NO_SCENARIO,
    part: 'e2e',
    secret,
    folder,
    cleanup,
    postgres,
    load,
  };
  await db.query("alter system set max_wal_size = '32GB'");
  await db.query("alter system set checkpoint_timeout = '1h'");
  await db.query('alter system set autovacuum = off');
  await db.query('select pg_reload_conf()');
  const tallyhook = await startTallyhook(bench, 'processes', db.url);
  await load.openStream(seed);
  const events = tallyhook.processes.find(({ name: own }) => own === 'events');
  if (!events) throw new Error('no worker applies events');
  const suspension = createSuspension(events, cleanup);
  const prepare = async (seconds: number): Promise<void> => {
    await load.prepare((ratePerSecond ?? MOST_PER_SECOND) * (seconds + WARM_UP_SECONDS + 1));
    await db.query('vacuum (analyze)');
    await db.query('checkpoint');
  };
  return {
    db,
    fillBacklog: async (count) => {
      suspension.suspend();
      await prepare(FILL_SECONDS);
      while ((await countPending(db)) < count) {
        const { counted } = await load.run({ port: tallyhook.port, seconds: FILL_SECONDS });
        if (counted === 0) throw new Error('nothing is received');
        await load.prepare(MOST_PER_SECOND * FILL_SECONDS);
      }
    },
    applyBacklog: suspension.wake,
    measureApplying: async (seconds, others) => {
      const cpu = watchCpu([events, postgresOf(bench), ...others]);
      const [startMs, before] = [nowMs(), await countPending(db)];
      await sleep(seconds * 1_000);
      const [endMs, after] = [nowMs(), await countPending(db)];
      if (after === 0)
        throw new Error(`a backlog of ${before} events was over within ${seconds} s`);
      return { perSecond: ((before - after) / (endMs - startMs)) * 1_000, cpu: cpu.stop() };
    },
    run: async (seconds, others) => {
      await prepare(seconds);
      const subject = {
        db,
        tallyhook: { ...tallyhook, processes: [...tallyhook.processes, ...others] },
        backlogEveryMs: 1_000,
        pollEveryMs: 100,
      };
      const request = {
        seconds,
        warmUpSeconds: WARM_UP_SECONDS,
        sampleEvery: SAMPLE_EVERY,
        ...(ratePerSecond !== undefined && { ratePerSecond }),
      };
      return (await measureRun(bench, subject, request)).report;
    },
  };
}

/** Prints what the part costs at the median of the pairs. @returns whether that is allowed */
export function isCheap(ratios: readonly number[], part: string, maxCost: number): boolean {
  const ascending = ratios.toSorted((a, b) => a - b);
  const at = (share: number) => quantile(ascending, share);
  console.log(
    `ratios: quartiles ${[0.25, 0.5, 0.75].map((share) => at(share).toFixed(3)).join(' ')}`,
  );
  console.log(
    `${part} cost ${((1 - at(0.5)) * 100).toFixed(1)} % of the applied rate ` +
      `(median of ${ratios.length} pairs; allowed ${maxCost * 100} %)`,
  );
  return 1 - at(0.5) <= maxCost;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

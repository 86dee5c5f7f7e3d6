/** Measures a filled ledger, on a server with the settings that users get. */
import { ORDER_STATUSES } from '../../src/webhooks/orderStatuses.ts';
import { settings, startApi } from '../api.ts';
import type { Bench } from '../bench.ts';
import { type Cleanup, createCleanup } from '../cleanup.ts';
import { type BenchDatabase, type Postgres, startPostgres } from '../database.ts';
import { measureRun, runEndToEndOn } from '../endToEnd.ts';
import { runWatched } from '../ledger/memory.ts';
import { startLoad } from '../loadProcess.ts';
import { NO_SCENARIO } from '../options.ts';
import { median, quantile } from '../quantiles.ts';
import { startTallyhook } from '../tallyhook.ts';
import { type AgingFigures, measureAging } from './aging.ts';
import { DATABASE } from './fill.ts';
import { printSizes, readSizes, type TableSize } from './sizes.ts';
import { readIndexes } from './warm.ts';

export const PARTS = ['sizes', 'aging', 'reads', 'load', 'retention'] as const;
export type Part = (typeof PARTS)[number];

export interface Measuring {
  readonly seconds: number;
  /** What the part `retention` keeps of bodies and messages. */
  readonly keepDays: number;
}

export interface Ledger extends Measuring {
  readonly events: number;
  readonly dataDir: string;
  readonly folder: string;
  readonly secret: string;
}

/** What one part shows of a ledger. */
export interface Figures {
  readonly sizes?: readonly TableSize[];
  readonly aging?: AgingFigures;
  readonly reads?: readonly ReadTimes[];
  readonly load?: LoadFigures;
  readonly retention?: RetentionFigures;
}

interface ReadTimes {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Events of a load. */
export interface Kept {
  readonly acknowledged: number;
  readonly stored: number;
}

export interface LoadFigures extends Kept {
  readonly acceptedPerSecond: number;
  readonly appliedPerSecond: number;
  readonly acceptedOfBare: number;
  readonly replyP99Ms: number;
  /** Disk that the load used, index splits and row versions included. */
  readonly bytesPerEvent: number;
}

/** @param outer what a signal undoes */
export async function measurePart(part: Part, ledger: Ledger, outer: Cleanup): Promise<Figures> {
  const cleanup = createCleanup();
  outer.add(() => cleanup.run());
  try {
    const postgres = await startPostgres(ledger.dataDir, cleanup);
    const running = { postgres, db: postgres.openDatabase(DATABASE), cleanup };
    switch (part) {
      case 'sizes': {
        const sizes = await readSizes(running.db);
        printSizes(sizes, ledger.events);
        return { sizes };
      }
      case 'aging': {
        const aging = await measureAging(running.db.url);
        printAging(aging, ledger.events);
        return { aging };
      }
      case 'reads':
        return { reads: await measureReads(ledger, running) };
      case 'load':
        return { load: await measureLoad(ledger, running) };
      case 'retention':
        return { retention: await measureRetention(ledger, running) };
    }
  } finally {
    await cleanup.run();
  }
}

function printAging(aging: AgingFigures, events: number): void {
  const per = (bytes: number) => `${whole(bytes / events)} bytes for each event`;
  const removed = aging.removed.map(
    ({ name, rows, unit, isDone }) =>
      `${name} ${whole(rows)}${unit ? ` ${unit}` : ''}${isDone ? '' : ' (more is left)'}`,
  );
  line('default retention', `${aging.retentionSeconds.toFixed(1)} s: ${removed.join(', ')}`);
  line('before', per(aging.beforeBytes));
  line('after, files', `${per(aging.fileBytes)}, space for new rows included`);
  line('after, live', `${per(aging.liveBytes)}, in tables of rows that are left:`);
  printSizes(aging.live, events);
}

const REQUESTS = 500;
const WARM_UP = 50;
const PAGES = 50;
const PAGE_ROWS = 50;
const FEED_ROWS = 100;

async function measureReads(
  { folder, events }: Ledger,
  { db, cleanup }: Running,
): Promise<readonly ReadTimes[]> {
  const api = await startApi(db.url, folder, cleanup);
  const measure = async (name: string, paths: readonly string[]): Promise<ReadTimes> => {
    await api.times(paths.slice(0, WARM_UP));
    const times = await api.times(paths);
    const read = { name, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
    line(name, `p50 ${read.p50Ms.toFixed(1)} ms, p99 ${read.p99Ms.toFixed(1)} ms over HTTP`);
    return read;
  };
  // Ids that are spread over the ledger; tablesample reads a few pages of it.
  const orders = await db.query<{ id: string }>(
    `select order_id as id from orders tablesample system ($1) limit $2`,
    [Math.min(100, (200 * REQUESTS * 100) / events), REQUESTS],
  );
  // Before changes that exist: the feed refuses to continue from a number in a gap.
  const feed = await db.query<{ after: number }>(
    `select (select min(c.number) - 1 from changes c where c.number >= last * n / $1) as after
       from generate_series(0, $1 - 1) n, (select max(number) as last from changes) l`,
    [PAGES],
  );
  const read = [
    await measure(
      'order by id',
      orders.map(({ id }) => `/api/v1/orders/${encodeURIComponent(id)}`),
    ),
  ];
  for (const status of ORDER_STATUSES) {
    const path = `/api/v1/orders?status=${status}&limit=${PAGE_ROWS}`;
    read.push(await measure(`newest ${PAGE_ROWS} ${status}`, Array(PAGES).fill(path)));
  }
  const pages = feed.map(({ after }) => `/api/v1/changes?after=${after}&limit=${FEED_ROWS}`);
  read.push(await measure(`${FEED_ROWS} changes`, pages));
  await api.stop();
  return read;
}

/** Until the pages that each event touches are in the server's own memory, too. */
const WARM_UP_SECONDS = 15;

interface Running {
  readonly postgres: Postgres;
  readonly db: BenchDatabase;
  readonly cleanup: Cleanup;
}

async function openBench({ folder, secret, seconds }: Ledger, running: Running): Promise<Bench> {
  const { postgres, cleanup } = running;
  return {
    options: { ...NO_SCENARIO, seconds },
    part: 'e2e',
    secret,
    folder,
    cleanup,
    postgres,
    load: await startLoad({ secret, cwd: folder, cleanup }),
  };
}

async function measureLoad(ledger: Ledger, running: Running): Promise<LoadFigures> {
  const { db } = running;
  const bench = await openBench(ledger, running);
  await readIndexes(db);
  const [before] = await db.query<{ id: number; bytes: number }>(POSITION);
  const { report, runs } = await runEndToEndOn(bench, db, WARM_UP_SECONDS);
  const [after] = await db.query<{ id: number; bytes: number }>(POSITION);
  const kept = await countKept(db, before?.id ?? 0, runs);
  await bench.load.process.stop();
  const figures: LoadFigures = {
    acceptedPerSecond: report.acceptedPerSecond,
    appliedPerSecond: report.appliedPerSecond,
    acceptedOfBare: report.acceptedOfBare,
    replyP99Ms: report.replyMicros.p99 / 1_000,
    bytesPerEvent: ((after?.bytes ?? 0) - (before?.bytes ?? 0)) / Math.max(1, kept.stored),
    ...kept,
  };
  line('accepted', `${whole(figures.acceptedPerSecond)}/s`);
  line('applied', `${whole(figures.appliedPerSecond)}/s`);
  line('accepted / bare', figures.acceptedOfBare.toFixed(2));
  line('reply', `p99 ${figures.replyP99Ms.toFixed(1)} ms`);
  line('disk', `${whole(figures.bytesPerEvent)} bytes for each event of the load`);
  printKept(kept);
  if (report.cpu.others !== undefined) {
    line('other programs', `${report.cpu.others.toFixed(2)} cores`);
  }
  return figures;
}

async function countKept(
  db: BenchDatabase,
  afterId: number,
  runs: readonly Pick<Kept, 'acknowledged'>[],
): Promise<Kept> {
  const [row] = await db.query<{ stored: number }>(
    'select count(*) as stored from webhook_events where id > $1',
    [afterId],
  );
  const acknowledged = runs.reduce((sum, run) => sum + run.acknowledged, 0);
  return { acknowledged, stored: row?.stored ?? 0 };
}

function printKept({ acknowledged, stored }: Kept): void {
  line('acknowledged', `${whole(acknowledged)}, stored ${whole(stored)}`);
}

export interface RetentionFigures extends Kept {
  readonly seconds: number;
  /** The p99 of replies under a steady load, in each window. */
  readonly replyP99Ms: {
    readonly before: readonly number[];
    readonly during: readonly number[];
    /** Autovacuum then works on what was removed. */
    readonly after: readonly number[];
  };
  readonly output: string;
}

const STEADY = { ratePerSecond: 300, sampleEvery: 20 } as const;
/**
 * Before the load is measured beside retention and after it: a command that starts takes the processors for
 * seconds, while in use the scheduler runs retention in its own process.
 */
const PAUSE_SECONDS = 10;
const PHASES = 3;
/** The p99 of one window depends on whether the disk stalled in it; the median of several depends less. */
const WINDOWS = 3;
/** The least that the setting accepts. */
const MIN_CHANGES_DAYS = 7;

/** Removes what is older than `keepDays` while events arrive, and compares replies before and after. */
async function measureRetention(ledger: Ledger, running: Running): Promise<RetentionFigures> {
  const { keepDays, seconds } = ledger;
  const { db } = running;
  const bench = await openBench(ledger, running);
  await readIndexes(db);
  const tallyhook = await startTallyhook(bench, 'processes', db.url);
  await bench.load.openStream(SEED);
  const phaseSeconds = WARM_UP_SECONDS + WINDOWS * (seconds + 2);
  await bench.load.prepare(STEADY.ratePerSecond * PHASES * phaseSeconds);
  const [start] = await db.query<{ id: number }>(POSITION);
  const runs: Pick<Kept, 'acknowledged'>[] = [];
  const replyP99Ms = async (firstWarmUpSeconds: number): Promise<readonly number[]> => {
    const subject = { db, tallyhook, backlogEveryMs: 1_000, pollEveryMs: 50 };
    const windows: number[] = [];
    for (let window = 0; window < WINDOWS; window += 1) {
      const warmUpSeconds = window === 0 ? firstWarmUpSeconds : 0;
      const request = { ...STEADY, seconds, warmUpSeconds };
      const { report, result } = await measureRun(bench, subject, request);
      runs.push(result);
      windows.push(report.replyMicros.p99 / 1_000);
    }
    return windows;
  };
  const before = await replyP99Ms(WARM_UP_SECONDS);
  const env = {
    ...settings(db.url),
    RETENTION_BODIES_DAYS: String(keepDays),
    RETENTION_MESSAGES_DAYS: String(keepDays),
    RETENTION_CHANGES_DAYS: String(Math.max(MIN_CHANGES_DAYS, keepDays)),
  };
  const removing = runWatched(['retention', 'run', '--minutes', '5', '--by', 'bench'], env);
  let isRemoving = true;
  const removed = removing.finally(() => {
    isRemoving = false;
  });
  const during = await replyP99Ms(PAUSE_SECONDS);
  const isMeasuredBeside = isRemoving;
  const run = await removed;
  const after = await replyP99Ms(PAUSE_SECONDS);
  const kept = await countKept(db, start?.id ?? 0, runs);
  await tallyhook.stop();
  await bench.load.process.stop();
  if (run.exitCode !== 0) throw new Error(`retention ended with ${run.exitCode}: ${run.output}`);
  if (!isMeasuredBeside) {
    throw new Error(`retention took ${run.seconds.toFixed(1)} s: measure less with --seconds`);
  }
  line('retention run', `${run.seconds.toFixed(1)} s`);
  for (const [phase, windows] of Object.entries({ before, during, after })) {
    const each = windows.map((p99Ms) => p99Ms.toFixed(1)).join(', ');
    line(`reply p99, ${phase}`, `${median(windows).toFixed(1)} ms at 300/s: ${each}`);
  }
  printKept(kept);
  console.log(run.output);
  return {
    ...kept,
    seconds: run.seconds,
    replyP99Ms: { before, during, after },
    output: run.output,
  };
}

const SEED = 6;

const POSITION = `select coalesce(max(id), 0) as id, pg_database_size(current_database()) as bytes
                    from webhook_events`;

function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(26)} ${text}`);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

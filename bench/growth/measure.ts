/** Measures a filled ledger, on a server with the settings that users get. */
import { ORDER_STATUSES } from '../../src/ledger/domain/order.ts';
import { quantile, startApi } from '../api.ts';
import type { Bench } from '../bench.ts';
import { type Cleanup, createCleanup } from '../cleanup.ts';
import { type BenchDatabase, type Postgres, startPostgres } from '../database.ts';
import { runEndToEndOn } from '../endToEnd.ts';
import { startLoad } from '../loadProcess.ts';
import { DATABASE } from './fill.ts';
import { printSizes, readSizes, type TableSize } from './sizes.ts';

export const PARTS = ['sizes', 'reads', 'load'] as const;
export type Part = (typeof PARTS)[number];

export interface Measuring {
  readonly parts: readonly Part[];
  readonly seconds: number;
}

interface Ledger extends Measuring {
  readonly events: number;
  readonly dataDir: string;
  readonly folder: string;
  readonly secret: string;
}

export interface Measured {
  readonly events: number;
  readonly sizes?: readonly TableSize[];
  readonly reads?: readonly ReadTimes[];
  readonly load?: LoadFigures;
  /** Every event that was acknowledged is stored. */
  readonly isComplete: boolean;
}

interface ReadTimes {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface LoadFigures {
  readonly acceptedPerSecond: number;
  readonly appliedPerSecond: number;
  readonly acceptedOfBare: number;
  readonly replyP99Ms: number;
  /** Disk that the load used, index splits and row versions included. */
  readonly bytesPerEvent: number;
  readonly acknowledged: number;
  readonly stored: number;
}

export async function measureLedger(ledger: Ledger): Promise<Measured> {
  const cleanup = createCleanup();
  try {
    const postgres = await startPostgres(ledger.dataDir, cleanup);
    const db = postgres.openDatabase(DATABASE);
    const { parts, events } = ledger;
    let measured: Measured = { events, isComplete: true };
    if (parts.includes('sizes')) {
      const sizes = await readSizes(db);
      printSizes(sizes, events);
      measured = { ...measured, sizes };
    }
    if (parts.includes('reads')) {
      measured = { ...measured, reads: await measureReads(ledger, db, cleanup) };
    }
    if (parts.includes('load')) {
      const load = await measureLoad(ledger, { postgres, db, cleanup });
      measured = { ...measured, load, isComplete: load.stored >= load.acknowledged };
    }
    return measured;
  } finally {
    await cleanup.run();
  }
}

const REQUESTS = 500;
const WARM_UP = 50;
const PAGES = 50;
const PAGE_ROWS = 50;
const FEED_ROWS = 100;

async function measureReads(
  { folder, events }: Ledger,
  db: BenchDatabase,
  cleanup: Cleanup,
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
  const [last] = await db.query<{ number: number }>('select max(number) as number from changes');
  const feed = Array.from({ length: PAGES }, (_, n) =>
    Math.floor(((last?.number ?? 0) * n) / PAGES),
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
  const pages = feed.map((after) => `/api/v1/changes?after=${after}&limit=${FEED_ROWS}`);
  read.push(await measure(`${FEED_ROWS} changes`, pages));
  await api.stop();
  return read;
}

async function measureLoad(
  { folder, secret, seconds }: Ledger,
  {
    postgres,
    db,
    cleanup,
  }: { readonly postgres: Postgres; readonly db: BenchDatabase; readonly cleanup: Cleanup },
): Promise<LoadFigures> {
  const load = await startLoad({ secret, cwd: folder, cleanup });
  const bench: Bench = {
    options: {
      scenarios: ['e2e'],
      seconds,
      pairs: 1,
      isSingleProcess: false,
      redisUrl: undefined,
      postgresUrl: undefined,
      jsonFile: undefined,
      profileDir: undefined,
      dataDir: undefined,
    },
    part: 'e2e',
    secret,
    folder,
    cleanup,
    postgres,
    load,
  };
  const [before] = await db.query<{ id: number; bytes: number }>(POSITION);
  const { report, runs } = await runEndToEndOn(bench, db);
  const [after] = await db.query<{ id: number; bytes: number }>(POSITION);
  const [row] = await db.query<{ stored: number }>(
    'select count(*) as stored from webhook_events where id > $1',
    [before?.id ?? 0],
  );
  await load.process.stop();
  const acknowledged = runs.reduce((sum, run) => sum + run.acknowledged, 0);
  const figures: LoadFigures = {
    acceptedPerSecond: report.acceptedPerSecond,
    appliedPerSecond: report.appliedPerSecond,
    acceptedOfBare: report.acceptedOfBare,
    replyP99Ms: report.replyMicros.p99 / 1_000,
    bytesPerEvent: ((after?.bytes ?? 0) - (before?.bytes ?? 0)) / Math.max(1, row?.stored ?? 0),
    acknowledged,
    stored: row?.stored ?? 0,
  };
  line('accepted', `${whole(figures.acceptedPerSecond)}/s`);
  line('applied', `${whole(figures.appliedPerSecond)}/s`);
  line('accepted / bare', figures.acceptedOfBare.toFixed(2));
  line('reply', `p99 ${figures.replyP99Ms.toFixed(1)} ms`);
  line('disk', `${whole(figures.bytesPerEvent)} bytes for each event of the load`);
  line('nothing lost', `acknowledged ${whole(acknowledged)}, stored ${whole(figures.stored)}`);
  if (report.cpu.others !== undefined) {
    line('other programs', `${report.cpu.others.toFixed(2)} cores`);
  }
  return figures;
}

const POSITION = `select coalesce(max(id), 0) as id, pg_database_size(current_database()) as bytes
                    from webhook_events`;

function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(26)} ${text}`);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

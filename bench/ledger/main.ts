/**
 * `npm run bench:ledger`: how reading and proving a ledger behave when it has millions of resources.
 * It prints the figures, and the plan of every statement that reads more than its result needs.
 */
import { join } from 'node:path';
import { readOrderPage } from '../../src/ledger/read/orderList.ts';
import { readOrder } from '../../src/ledger/read/orders.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { ORDER_STATUSES } from '../../src/webhooks/orderStatuses.ts';
import { settings, startApi } from '../api.ts';
import type { Cleanup } from '../cleanup.ts';
import { type CpuWatch, watchCpu } from '../cpu.ts';
import { startPostgres } from '../database.ts';
import { quantile } from '../quantiles.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { countRows, insertCopies } from './copies.ts';
import { runWatched, type Watched } from './memory.ts';
import { explaining, type Plan } from './plans.ts';
import { applyTemplate, markOf, TEMPLATE_PAYMENTS } from './template.ts';

const HELP = `npm run bench:ledger -- [flags]

  --resources N   size of the ledger (2000000)
  --data-dir DIR  where to make the temporary database (the system's)

Makes the ledger from copies of a small one, reads orders over the admin API, and runs
"tallyhook verify" on a tenth of it and on all of it, with different numbers of threads. Takes about 8 kB of disk for each resource.
Exit code: 0 every target was reached and verify passed, 1 not.`;

const MAX_ORDER_MS = 5;
const MAX_PAGE_MS = 50;
const MAX_VERIFY_MIB = 300;
const COPIES_PER_STATEMENT = 20;
const REQUESTS = 400;
const WARM_UP_REQUESTS = 50;
const PAGES = 20;
const PAGE_SIZE = 50;
const DEADLINE_MS = 3 * 3_600_000;

async function measureAll(wanted: number, { folder, cleanup }: BenchParts): Promise<boolean> {
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const { url } = await postgres.createDatabase('bench_ledger');
  const db = createDatabase({
    connectionString: url,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-ledger',
    maxConnections: 2,
    responseTimeoutMs: 600_000,
    plans: 'any',
  });
  cleanup.add(() => db.close());
  const cpu = watchCpu([
    { name: 'postgres', pid: postgres.pid, isTree: true },
    { name: 'verify', pid: process.pid, isTree: true },
  ]);
  const verified: Verified = { db, url, cpu };

  await applyTemplate(url);
  const template = await countRows(db);
  if (template.findings > 0)
    throw new Error('the template has findings; its copies would lack them');
  const copies = Math.ceil(wanted / template.resources) - 1;
  const tenth = Math.max(1, Math.round(copies / 10));
  await makeCopies(db, { from: 1, to: tenth, events: template.events });
  const small = await verify(verified);
  await makeCopies(db, { from: tenth + 1, to: copies, events: template.events });

  const isQuick = await readThroughApi(url, folder, { copies, cleanup });
  const greedy = await readExplained(db, copies);
  const large = await verify(verified);
  const arePassed = await compareThreads(verified);
  const isFlat = large.peakMib < MAX_VERIFY_MIB;
  line(
    'verify is flat',
    `${small.peakMib.toFixed(0)} MiB on a tenth, ${large.peakMib.toFixed(0)} MiB on all: ${isFlat ? 'yes' : 'NO'}`,
  );
  return (
    isQuick &&
    isFlat &&
    greedy.length === 0 &&
    small.exitCode === 0 &&
    large.exitCode === 0 &&
    arePassed
  );
}

async function makeCopies(
  db: Database,
  { from, to, events }: { readonly from: number; readonly to: number; readonly events: number },
): Promise<void> {
  const startMs = performance.now();
  for (let first = from; first <= to; first += COPIES_PER_STATEMENT) {
    const last = Math.min(to, first + COPIES_PER_STATEMENT - 1);
    await insertCopies(db, { from: first, to: last, events });
    if (process.stderr.isTTY) process.stderr.write(`\r  copy ${last} of ${to} `);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  // As autovacuum would have, some time after so many rows came in.
  await db.query('vacuum analyze');
  const { resources, events: inbox } = await countRows(db);
  const seconds = (performance.now() - startMs) / 1_000;
  line(
    'the ledger',
    `${whole(resources)} resources, ${whole(inbox)} events (made in ${seconds.toFixed(0)} s)`,
  );
}

/** Reads as a shop does: over HTTP, from a console in a process of its own. */
async function readThroughApi(
  url: string,
  cwd: string,
  { copies, cleanup }: { readonly copies: number; readonly cleanup: Cleanup },
): Promise<boolean> {
  const api = await startApi(url, cwd, cleanup);
  const orders = Array.from({ length: REQUESTS + WARM_UP_REQUESTS }, (_, n) =>
    orderPath(n, copies),
  );
  await api.times(orders.slice(REQUESTS));
  const byId = report('order by id', await api.times(orders.slice(0, REQUESTS)), MAX_ORDER_MS);
  const pages: boolean[] = [];
  for (const status of ORDER_STATUSES) {
    const path = `/api/v1/orders?status=${status}&limit=${PAGE_SIZE}`;
    pages.push(
      report(`newest 50 ${status}`, await api.times(Array(PAGES).fill(path)), MAX_PAGE_MS),
    );
  }
  await api.stop();
  return byId && pages.every(Boolean);
}

/** Ids that are spread over the ledger, by a stride that is prime to its size. */
function orderPath(n: number, copies: number): string {
  return `/api/v1/orders/${encodeURIComponent(orderIdOf(n, copies))}`;
}

function orderIdOf(n: number, copies: number): string {
  return `ord_${markOf((n * 7919) % (copies + 1))}_${(n * 37) % 900}`;
}

async function readExplained(db: Database, copies: number): Promise<readonly Plan[]> {
  const explained = explaining(db);
  for (let n = 0; n < 20; n += 1) {
    const order = await readOrder(explained.db, { id: orderIdOf(n, copies) });
    if (!order) throw new Error(`${orderIdOf(n, copies)} is not there`);
  }
  for (const status of ORDER_STATUSES) {
    await readOrderPage(explained.db, { status }, { after: undefined, limit: PAGE_SIZE });
  }
  const { greedy } = explained;
  line(
    'plans',
    `${explained.statements()} statements explained, ${greedy.length} read more than they should`,
  );
  for (const plan of greedy) {
    console.log(
      `\n  ${plan.blocks} blocks for ${plan.rows} rows:\n${plan.statement}\n\n${plan.text}\n`,
    );
  }
  return greedy;
}

/** For comparison with 2, for which the target of memory is. */
const THREADS = [1, 2, 4];

/** Proves everything with different numbers of threads, then what changed since: nothing. */
async function compareThreads(verified: Verified): Promise<boolean> {
  const runs: Watched[] = [];
  for (const threads of THREADS) {
    runs.push(await verify(verified, ['--full', '--threads', `${threads}`]));
  }
  const [alone] = runs;
  const times = runs.map(({ seconds }) => ((alone?.seconds ?? 0) / seconds).toFixed(2));
  line('speed by threads', THREADS.map((threads, n) => `${threads}: ${times[n]}`).join(', '));
  const incremental = await verify(verified, []);
  return [...runs, incremental].every(({ exitCode }) => exitCode === 0);
}

interface Verified {
  readonly db: Database;
  readonly url: string;
  readonly cpu: CpuWatch;
}

/**
 * The seconds of processor that JavaScript and PostgreSQL took do not depend on what else the machine
 * does; how long it took in all does.
 */
async function verify(
  { db, url, cpu }: Verified,
  flags = ['--full', '--threads', '2'],
): Promise<Watched> {
  const { resources } = await countRows(db);
  cpu.start();
  const watched = await runWatched(['verify', ...flags, '--json'], settings(url));
  const { processes, others = 0 } = cpu.stop();
  const busy = (share = 0) => `${(share * watched.seconds).toFixed(0)} s`;
  const tenths = watched.tenthsMib.map((mib) => mib.toFixed(0)).join(' ');
  const passed = watched.exitCode === 0 ? 'passed' : `FAILED\n${watched.output}`;
  line(
    `verify ${flags.join(' ')}`,
    `${whole(resources)} resources in ${watched.seconds.toFixed(0)} s, peak ${watched.peakMib.toFixed(0)} MiB (over time: ${tenths}): ${passed}`,
  );
  line(
    '  processors',
    `JavaScript ${busy(processes.verify)}, PostgreSQL ${busy(processes.postgres)}, other programs ${busy(others)}`,
  );
  return watched;
}

function report(name: string, ascending: readonly number[], maxMs: number): boolean {
  const at = (share: number) => quantile(ascending, share);
  const isQuick = at(0.5) < maxMs;
  line(
    name,
    `p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms over HTTP (target < ${maxMs} ms: ${isQuick ? 'reached' : 'MISSED'})`,
  );
  return isQuick;
}

function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(28)} ${text}`);
}

function whole(value: number): string {
  return value.toLocaleString('en');
}

await runBench({
  help: HELP,
  flags: { resources: '2000000' },
  deadlineMs: DEADLINE_MS,
  run: ({ resources }, parts) =>
    measureAll(readCount('--resources', resources, TEMPLATE_PAYMENTS), parts),
});

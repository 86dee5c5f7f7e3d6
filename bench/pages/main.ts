/**
 * `npm run bench:pages`: how long every page of the console takes on a ledger of millions of resources, how
 * large it is, and the plan of every statement that reads more than a page may.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { RETENTION_SETTINGS, retentionOf } from '../../src/config/retentionSettings.ts';
import { createBalanceReader } from '../../src/ledger/read/balances.ts';
import { readMoney } from '../../src/overview/recentMoney.ts';
import type { PageParts } from '../../src/pages/page.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { startConsole } from '../api.ts';
import type { Cleanup } from '../cleanup.ts';
import { watchCpu } from '../cpu.ts';
import { startPostgres } from '../database.ts';
import { explaining, type Plan } from '../ledger/plans.ts';
import { quantile } from '../quantiles.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { type BenchLedger, type Case, casesOf } from './cases.ts';
import { DATABASE, fill } from './fill.ts';

const HELP = `npm run bench:pages -- [flags]

  --resources N   size of the ledger (2000000)
  --requests N    requests for each address (40)
  --data-dir DIR  where to make the temporary database (the system's)
  --keep DIR      a folder that keeps the ledger; the next run measures the same one

Opens every page, lists with filters that many, few and no rows match, over HTTP from a console in a process
of its own, one request after the other. Takes about 8 kB of disk for each resource.
Exit code: 0 every target was reached, 1 not.`;

const MAX_P95_MS = 100;
const MAX_KILOBYTES = 50;
/** Pages that search or sum some thousand rows, each in a block of its table and one of its index at worst. */
const SEARCHING =
  /^\/(|orders|payments|refunds|disputes|payouts|inbox|replays\/new|ledger\/.*)(\?|$)/;
const MAX_SEARCHED_BLOCKS = 15_000;
/** Counts of what is newest. */
const MAX_BLOCKS = 2_500;
/** A page of one thing. */
const MAX_BLOCKS_BY_KEY = 300;
const WARM_UP_REQUESTS = 3;
const READ_TIMEOUT_MS = 60_000;
const DEADLINE_MS = 3 * 3_600_000;

interface Options {
  readonly resources: number;
  /** For each address. */
  readonly requests: number;
  /** Holds the ledger from one run to the next; undefined: it is removed at the end. */
  readonly keptDir: string | undefined;
}

async function measureAll(
  { resources, requests, keptDir }: Options,
  { folder, cleanup }: BenchParts,
): Promise<boolean> {
  const dataDir = join(keptDir ?? folder, 'data');
  mkdirSync(join(dataDir, '..'), { recursive: true });
  await fill(dataDir, resources, cleanup);
  const postgres = await startPostgres(dataDir, cleanup);
  const { url } = postgres.openDatabase(DATABASE);
  const db = createDatabase({
    connectionString: url,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-pages',
    maxConnections: 2,
    responseTimeoutMs: READ_TIMEOUT_MS,
    plans: 'any',
  });
  cleanup.add(() => db.close());
  const { cases, skipped } = casesOf(await readLedger(db));
  const viewer = await startViewer(url, folder, cleanup);
  const areReached = await measure(cases, { viewer, postgresPid: postgres.pid }, requests);
  const areModest = await explainPages(cases, db);
  if (skipped.length > 0)
    console.log(`  not measured, for want of an example: ${skipped.join(', ')}`);
  return areReached && areModest;
}

/** Each copy has one dispute. */
async function readLedger(db: Database): Promise<BenchLedger> {
  const [row] = await db.query<{
    resources: number;
    disputes: number;
    month: string;
    failedPayout: string;
  }>(
    `select count(*) as resources, count(*) filter (where kind = 'dispute') as disputes,
            (select to_char(min(effective_at) + interval '1 month', 'YYYY-MM') from transfers) as month,
            min(id) filter (where kind = 'payout' and status = 'failed') as "failedPayout"
       from resources`,
  );
  console.log(`  the ledger has ${(row?.resources ?? 0).toLocaleString('en')} resources`);
  const { disputes = 1, month = '', failedPayout = '' } = row ?? {};
  return { copies: disputes - 1, month, failedPayout };
}

interface Viewer {
  /** The HTML of a path, for someone who has signed in. */
  readonly open: (path: string) => Promise<string>;
  readonly pid: number;
}

async function startViewer(url: string, cwd: string, cleanup: Cleanup): Promise<Viewer> {
  const { base, token, pid } = await startConsole(url, cwd, cleanup);
  const body = new URLSearchParams({ token });
  const signedIn = await fetch(`${base}/sign-in`, { method: 'POST', body, redirect: 'manual' });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const open = async (path: string): Promise<string> => {
    const response = await fetch(base + path, { headers: { cookie }, redirect: 'manual' });
    const html = await response.text();
    // A search for an id leads to its page.
    if (response.status !== 200 && response.status !== 303)
      throw new Error(`${path} returned ${response.status}`);
    return html;
  };
  return { open, pid };
}

/** The milliseconds of processor that a request takes do not depend on what else the machine does. */
async function measure(
  cases: readonly Case[],
  { viewer, postgresPid }: { readonly viewer: Viewer; readonly postgresPid: number },
  requests: number,
): Promise<boolean> {
  const cpu = watchCpu([
    { name: 'console', pid: viewer.pid },
    { name: 'postgres', pid: postgresPid, isTree: true },
  ]);
  for (const path of ['/ledger', '/']) {
    const startMs = performance.now();
    await viewer.open(path);
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
    console.log(`  ${path} is read for the first time in ${seconds} s`);
  }
  console.log(
    `\n  ${'p50 ms'.padStart(7)} ${'p95 ms'.padStart(7)} ${'kB'.padStart(6)} ${'gzip kB'.padStart(8)} ${'node ms'.padStart(9)} ${'pg ms'.padStart(9)}`,
  );
  let areReached = true;
  for (const { path } of cases) {
    const html = await viewer.open(path);
    for (let n = 1; n < WARM_UP_REQUESTS; n += 1) await viewer.open(path);
    const times: number[] = [];
    const startedMs = performance.now();
    cpu.start();
    for (let n = 0; n < requests; n += 1) {
      const begunMs = performance.now();
      await viewer.open(path);
      times.push(performance.now() - begunMs);
    }
    const { processes } = cpu.stop();
    const perRequestMs = (performance.now() - startedMs) / requests;
    const busy = (share = 0) => (share * perRequestMs).toFixed(0).padStart(9);
    times.sort((one, other) => one - other);
    const p95 = quantile(times, 0.95);
    const kilobytes = gzipSync(html).length / 1_000;
    const isReached = p95 <= MAX_P95_MS && kilobytes <= MAX_KILOBYTES;
    areReached &&= isReached;
    const figures = [
      quantile(times, 0.5).toFixed(0).padStart(7),
      p95.toFixed(0).padStart(7),
      (html.length / 1_000).toFixed(0).padStart(6),
      kilobytes.toFixed(1).padStart(8),
      busy(processes.console),
      busy(processes.postgres),
    ];
    console.log(`  ${figures.join(' ')}  ${path}${isReached ? '' : '  MISSED'}`);
  }
  const target = `p95 ≤ ${MAX_P95_MS} ms and ≤ ${MAX_KILOBYTES} kB compressed`;
  console.log(`\n  target ${target}: ${areReached ? 'reached' : 'MISSED'}`);
  return areReached;
}

/** Opens each page here, and explains its statements. */
async function explainPages(cases: readonly Case[], db: Database): Promise<boolean> {
  let allowedBlocks = Number.POSITIVE_INFINITY;
  const explained = explaining(db, () => allowedBlocks);
  // What a process reads once, of the days that are over.
  const balances = createBalanceReader(explained.db);
  await balances.read();
  await readMoney(explained.db, 30);
  const installation = { name: 'Tallyhook', consoleUrl: undefined };
  // What checks and queues respond is not read from the tables of the ledger.
  const report = { startedMs: 0, finishedMs: 0, checks: [] };
  const parts = {
    db: explained.db,
    balances,
    clock: { nowMs: () => Date.now() },
    channels: [],
    channelTargets: [],
    installation,
    schedules: [],
    queues: { backend: 'postgres', check: async () => undefined, queues: {} },
    system: {
      doctor: { last: () => report, read: async () => report },
      retention: retentionOf(z.object(RETENTION_SETTINGS).parse({})),
      settings: [],
      isArchiving: false,
    },
  };
  const unread: string[] = [];
  const greedy: (Plan & { readonly path: string })[] = [];
  for (const { page, params, query, path } of cases) {
    const before = explained.greedy.length;
    allowedBlocks = allowedBlocksOf({ page, path });
    const actor = { kind: 'token', name: 'bench', role: 'admin', origin: '127.0.0.1' } as const;
    try {
      await page.open(parts as unknown as PageParts, {
        params,
        query,
        actor,
        role: 'admin',
        sessionId: 0,
        isLive: false,
      });
    } catch (error) {
      unread.push(`${path} (${error instanceof Error ? error.message : error})`);
    }
    greedy.push(...explained.greedy.slice(before).map((plan) => ({ ...plan, path })));
  }
  console.log(
    `  ${explained.statements()} statements explained, ${greedy.length} read more than their page may: ` +
      `${MAX_BLOCKS_BY_KEY} blocks for a page of one thing, ${MAX_BLOCKS} for others, ` +
      `${MAX_SEARCHED_BLOCKS} for a list that searches`,
  );
  for (const path of unread) console.log(`  not explained: ${path}`);
  for (const { path, blocks, rows, statement, text } of greedy) {
    console.log(`\n  ${path}: ${blocks} blocks for ${rows} rows:\n${statement}\n\n${text}\n`);
  }
  return greedy.length === 0;
}

function allowedBlocksOf({ page, path }: Pick<Case, 'page' | 'path'>): number {
  if (SEARCHING.test(path)) return MAX_SEARCHED_BLOCKS;
  return page.path.includes('{') ? MAX_BLOCKS_BY_KEY : MAX_BLOCKS;
}

await runBench({
  help: HELP,
  flags: { resources: '2000000', requests: '40', keep: undefined },
  deadlineMs: DEADLINE_MS,
  run: ({ resources, requests, keep }, parts) =>
    measureAll(
      {
        resources: readCount('--resources', resources),
        requests: readCount('--requests', requests),
        keptDir: keep === undefined ? undefined : resolve(keep),
      },
      parts,
    ),
});

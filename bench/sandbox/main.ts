/**
 * `npm run bench:sandbox`: the speed of the sandbox with a million payments. It prints the
 * figures and the plan of every statement that it measures.
 */
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import type { ListFilter, ListPage } from '../../src/sandbox/store/lists.ts';
import { countResources, listResources } from '../../src/sandbox/store/postgres/lists.ts';
import { readResource } from '../../src/sandbox/store/postgres/resources.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { CUSTOMERS, insertPayments, paymentIdOf, SPAN_MS } from './payments.ts';
import { API_KEY, startBenchSandbox } from './start.ts';

const HELP = `npm run bench:sandbox -- [flags]

  --payments N    payments that the sandbox has (1000000)
  --data-dir DIR  where to make the temporary database (the system's)

Takes about 1.2 kB of disk for each payment. Exit code: 0 every target was reached, 1 not.`;

const MAX_RETRIEVE_MS = 10;
const MAX_PAGE_MS = 50;
const REQUESTS = 400;
const PAGES = 30;
const WARM_UP = 40;
const DEADLINE_MS = HOUR_MS;
const PAGE: ListPage = { limit: 100, offset: 0, order: 'created', salt: '' };

async function measureAll(payments: number, parts: BenchParts): Promise<boolean> {
  const { db, baseUrl } = await startBenchSandbox('bench_sandbox', parts);
  const endMs = Date.now();
  const startedMs = performance.now();
  await insertPayments(db, { payments, endMs });
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  line('the sandbox', `${payments.toLocaleString('en')} payments (created in ${seconds} s)`);

  const results = [
    await measureRetrieve(baseUrl, payments),
    await measureWindow(baseUrl, endMs),
    await measurePages(db, endMs),
  ];
  await measureTotals(db);
  await printPlans(db, payments, endMs);
  return results.every(Boolean);
}

/** One payment by its id, over HTTP, spread over all of them. */
async function measureRetrieve(baseUrl: string, payments: number): Promise<boolean> {
  const path = (n: number) => `/payments/${paymentIdOf(1 + ((n * 7919) % payments))}`;
  const times = await timed(REQUESTS, (n) => request(baseUrl, 'GET', path(n)));
  return report('retrieve', times, MAX_RETRIEVE_MS);
}

/** A page of one hour, over HTTP and with its exact total, as reconciliation requests it. */
async function measureWindow(baseUrl: string, endMs: number): Promise<boolean> {
  const times = await timed(REQUESTS, (n) => {
    const fromMs = endMs - ((n * 7919 * HOUR_MS) % (SPAN_MS - HOUR_MS)) - HOUR_MS;
    const body = {
      limit: 100,
      status: 'succeeded',
      created_gte: new Date(fromMs).toISOString(),
      created_lte: new Date(fromMs + HOUR_MS).toISOString(),
    };
    return request(baseUrl, 'POST', '/payments/list', body);
  });
  return report('page of an hour, with total', times, MAX_PAGE_MS);
}

function filters(endMs: number): Readonly<Record<string, ListFilter>> {
  const half = new Date(endMs - SPAN_MS / 2).toISOString();
  return {
    'no filter': { kind: 'payment' },
    'by status, 4 in 100': { kind: 'payment', statuses: ['requires_capture'] },
    'by currency, 1 in 100': { kind: 'payment', currencies: ['KWD'] },
    'by customer': { kind: 'payment', customerId: 'cus_4711' },
    'the older half': { kind: 'payment', createdTo: half },
    'status and currency': { kind: 'payment', statuses: ['failed'], currencies: ['KWD'] },
    'status, older half': { kind: 'payment', statuses: ['succeeded'], createdTo: half },
  };
}

/** Pages of filters that select much, by themselves: their totals are measured apart. */
async function measurePages(db: Database, endMs: number): Promise<boolean> {
  const results: boolean[] = [];
  for (const [name, filter] of Object.entries(filters(endMs))) {
    const times = await timed(PAGES, () => listResources(db, filter, PAGE));
    results.push(report(`page, ${name}`, times, MAX_PAGE_MS));
  }
  return results.every(Boolean);
}

async function measureTotals(db: Database): Promise<void> {
  for (const [name, filter] of Object.entries(filters(Date.now()))) {
    const times = await timed(5, () => countResources(db, filter, undefined));
    line(`total, ${name}`, `p50 ${percentile(times, 0.5).toFixed(1)} ms`);
  }
}

/** The plan of every statement measured, as the database runs it with these very values. */
async function printPlans(db: Database, payments: number, endMs: number): Promise<void> {
  const explaining: Queryable = {
    query: async (text, values) => {
      const rows = await db.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off) ${text}`,
        values,
      );
      console.log(rows.map((row) => `      ${row['QUERY PLAN']}`).join('\n'));
      return [];
    },
  };
  console.log('\n    retrieve');
  await readResource(explaining, 'payment', paymentIdOf(Math.floor(payments / 2)));
  for (const [name, filter] of Object.entries(filters(endMs))) {
    console.log(`\n    page, ${name}`);
    await listResources(explaining, filter, PAGE);
  }
}

async function request(
  baseUrl: string,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'api-key': API_KEY },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} responded ${response.status}: ${text}`);
}

/** Milliseconds of each run, ascending, after runs that warm up. */
async function timed(runs: number, work: (n: number) => Promise<unknown>): Promise<number[]> {
  for (let n = 0; n < Math.min(WARM_UP, runs); n += 1) await work(runs + n);
  const times: number[] = [];
  for (let n = 0; n < runs; n += 1) {
    const startMs = performance.now();
    await work(n);
    times.push(performance.now() - startMs);
  }
  return times.toSorted((a, b) => a - b);
}

function report(name: string, ascending: readonly number[], maxMs: number): boolean {
  const median = percentile(ascending, 0.5);
  const isQuick = median < maxMs;
  const verdict = `target < ${maxMs} ms: ${isQuick ? 'reached' : 'MISSED'}`;
  const slow = percentile(ascending, 0.99).toFixed(1);
  line(name, `p50 ${median.toFixed(1)} ms, p99 ${slow} ms (${verdict})`);
  return isQuick;
}

function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(32)} ${text}`);
}

await runBench({
  help: HELP,
  flags: { payments: '1000000' },
  deadlineMs: DEADLINE_MS,
  run: ({ payments }, parts) => measureAll(readCount('--payments', payments, CUSTOMERS), parts),
});

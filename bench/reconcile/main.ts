/**
 * `npm run bench:reconcile`: what comparing a long span with the service costs, in requests and in
 * memory. One statement fills the ledger from the sandbox's tables, with the columns that are
 * compared: importing them would measure the ledger.
 */
import { createClient } from '../../src/client/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { createReconcile, type Reconcile, type RunReport } from '../../src/reconcile/run.ts';
import type { Mode } from '../../src/reconcile/store/runs.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { insertPayments, paymentIdOf, SPAN_MS } from '../sandbox/payments.ts';
import { API_KEY, startBenchSandbox } from '../sandbox/start.ts';

const HELP = `npm run bench:reconcile -- [flags]

  --payments N    payments of the service (1000000)
  --data-dir DIR  where to make the temporary database (the system's)

Takes about 2 kB of disk for each payment. Exit code: 0 every target was reached, 1 not.`;

const MAX_CLEAN = 60;
const MAX_FINDING = 120;
const MAX_LISTING_SHARE = 1.4;
const MAX_MEMORY_MB = 300;
const DEADLINE_MS = 2 * 60 * 60_000;

async function measureAll(payments: number, parts: BenchParts): Promise<boolean> {
  const { db, baseUrl } = await startBenchSandbox('bench_reconcile', parts);
  const endMs = Date.now() - DAY_MS;
  await insertPayments(db, { payments, endMs });
  await fillLedger(db);
  line('the service and the ledger', `${payments.toLocaleString('en')} payments each`);
  return await measure(db, reconcileOf(db, baseUrl), { payments, endMs });
}

function reconcileOf(db: Database, baseUrl: string): Reconcile {
  const client = createClient({ baseUrl, apiKey: API_KEY });
  const account = { merchantId: undefined, profileId: undefined };
  return createReconcile({
    db,
    client,
    retrieve: createRetrieve({ db, client, clock: systemClock, account }),
    account,
    clock: systemClock,
    metrics: createReconcileMetrics(createMetrics()),
    log: createLog('silent'),
    sleep,
  });
}

async function fillLedger(db: Database): Promise<void> {
  await db.query(
    `insert into resources (kind, id, order_key, status, currency, amount_minor, captured_minor,
                            created_at, version_micros)
     select kind, id, 'order:' || (state->'metadata'->>'order_id'), status, currency, (state->>'amount')::bigint,
            (state->>'amount_received')::bigint, created_at,
            (extract(epoch from modified_at) * 1000000)::bigint
       from sandbox.resources`,
  );
  await db.query('vacuum analyze resources');
}

async function measure(
  db: Database,
  reconcile: Reconcile,
  { payments, endMs }: { readonly payments: number; readonly endMs: number },
): Promise<boolean> {
  let peakMb = 0;
  const run = async (mode: Mode, cause: string): Promise<RunReport> => {
    const span = { fromMs: endMs - SPAN_MS - DAY_MS, toMs: endMs + 1 };
    return await reconcile(
      { stream: 'payments', mode, ...span, cause, isDryRun: false, lane: 'discovery' },
      {
        signal: new AbortController().signal,
        onProgress: () => {
          peakMb = Math.max(peakMb, process.memoryUsage().rss / 2 ** 20);
        },
      },
    );
  };
  // As after a night: what sums cost is part of the figures.
  await db.query('update reconcile_streams set sums_calibrated_at = statement_timestamp()');
  const clean = await timed(() => run('totals', 'clean'));
  const { report: cleanReport } = clean;
  const isClean =
    cleanReport.remaining === 0 && cleanReport.found === 0 && cleanReport.sums === 'agreed';
  await db.query('delete from resources where id = $1', [paymentIdOf(Math.floor(payments / 3))]);
  const missing = await timed(() => run('totals', 'missing'));
  const isFound = missing.report.found === 1 && missing.report.repaired === 1;
  const listing = await timed(() => run('full', 'listing'));
  const maxListing = Math.ceil((MAX_LISTING_SHARE * payments) / 100) + 2;
  return [
    report('clean span, by totals', clean, { max: MAX_CLEAN, isRight: isClean }),
    report('one missing, by totals', missing, { max: MAX_FINDING, isRight: isFound }),
    report('full listing', listing, {
      max: maxListing,
      isRight: listing.report.rowsCompared >= payments && listing.report.remaining === 0,
    }),
    reportMemory(peakMb),
  ].every(Boolean);
}

interface Timed {
  readonly report: RunReport;
  readonly seconds: number;
}

async function timed(work: () => Promise<RunReport>): Promise<Timed> {
  const startMs = performance.now();
  const result = await work();
  return { report: result, seconds: (performance.now() - startMs) / 1_000 };
}

function report(
  name: string,
  { report: { requests, found, repaired }, seconds }: Timed,
  target: { readonly max: number; readonly isRight: boolean },
): boolean {
  const isReached = requests <= target.max && target.isRight;
  const verdict = `target <= ${target.max}: ${isReached ? 'reached' : 'MISSED'}`;
  const what = `${requests} requests, ${found} found, ${repaired} repaired, ${seconds.toFixed(1)} s`;
  line(name, `${what} (${verdict})`);
  return isReached;
}

function reportMemory(peakMb: number): boolean {
  const isReached = peakMb < MAX_MEMORY_MB;
  const verdict = `target < ${MAX_MEMORY_MB} MB: ${isReached ? 'reached' : 'MISSED'}`;
  line('memory, the sandbox included', `${peakMb.toFixed(0)} MB at most (${verdict})`);
  return isReached;
}

function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(32)} ${text}`);
}

await runBench({
  help: HELP,
  flags: { payments: '1000000' },
  deadlineMs: DEADLINE_MS,
  run: ({ payments }, parts) => measureAll(readCount('--payments', payments, 1_000), parts),
});

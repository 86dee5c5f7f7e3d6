/**
 * `npm run bench:bodies`: how long intake waits while bodies that an older version stored are copied, and
 * while they are packed and removed.
 *
 * A sender stores a batch every 25 ms, regardless of the last one, and counts from the time that the batch
 * was due. What it waits for without any other work is measured first, in the same run.
 */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { copyNext } from '../../src/ledger/bodies/copyBodies.ts';
import { COPY_LIMITS, createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { removeBodyDays } from '../../src/ledger/bodies/removeBodies.ts';
import { measurePlaces, scanBodyDays } from '../../src/ledger/bodies/store/removal.ts';
import { restAfterMs } from '../../src/ledger/domain/rest.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/time.ts';
import { storeBatch } from '../../src/receiver/storeBatch.ts';
import { startPostgres } from '../database.ts';
import { quantile } from '../quantiles.ts';
import { type BenchParts, readCount, runBench } from '../runBench.ts';
import { describeWaits, SENDER, type Span, type Watched, watchWaits } from './waits.ts';

const HELP = `npm run bench:bodies -- [flags]

  --events N      events of the older version (1000000), in 30 days
  --data-dir DIR  where to make the temporary database (the system's)

Takes about 6 kB of disk for each event.
Exit code: 0 no statement of the sender waited a second for a lock, 1 one did.`;

const DEADLINE_MS = 3 * 60 * MINUTE_MS;
const DAYS = 30;
const ROWS_PER_STATEMENT = 50_000;
const BATCH_EVENTS = 5;
const SEND_EVERY_MS = 25;
const SAMPLE_EVERY_MS = 20;
const QUIET_MS = 30 * SECOND_MS;
const MAX_LOCK_WAIT_MS = SECOND_MS;
const SLOW_BATCHES = 3;

const forever = new AbortController().signal;

/** Events with 1.5 kB each, as an older version stored them. */
async function fill(db: Database, events: number): Promise<void> {
  for (let from = 1; from <= events; from += ROWS_PER_STATEMENT) {
    await db.query(
      `insert into webhook_events (event_id, merchant_id, event_type, body, body_sha256, received_at)
       select 'evt_' || n, 'merchant_bench', 'payment_succeeded', body, sha256(body),
              date_trunc('day', now()) - interval '31 days' + n * (interval '30 days' / $3::integer)
         from generate_series($1::integer, least($2::integer, $3::integer)) as n
        cross join lateral (
                select convert_to(string_agg('"field_of_a_payment_' || i || '":"'
                         || case when i % 3 = 0 then md5(n || ' ' || i) else 'requires_capture' end || '"',
                         ','), 'UTF8') as body
                  from generate_series(1, 30) as i) b`,
      [from, from + ROWS_PER_STATEMENT - 1, events],
    );
  }
  await db.query('vacuum analyze webhook_events');
}

interface Waits {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** The longest that a statement of the sender was seen to run, without its wait for a connection. */
  readonly longestStatement: number;
  /** The longest that one was seen waiting for a lock. */
  readonly longestLock: number;
  readonly seconds: number;
  readonly watched: Watched;
  /** The batches that took longest. */
  readonly slow: readonly Span[];
}

interface Connections {
  readonly sender: Database;
  readonly watcher: Database;
  readonly folder: string;
}

/** Stores batches and samples locks until `work` is done. */
async function sendDuring(
  { sender, watcher, folder }: Connections,
  work: () => Promise<void>,
): Promise<Waits> {
  const batches: Span[] = [];
  let longestLock = 0;
  let longestStatement = 0;
  let isDone = false;
  const startMs = performance.now();
  const sending = async (): Promise<void> => {
    const underWay = new Set<Promise<void>>();
    for (let nth = 0; !isDone; nth++) {
      const dueMs = startMs + nth * SEND_EVERY_MS;
      await sleep(Math.max(0, dueMs - performance.now()), forever);
      const stored = storeBatch(sender, newBatch(), new Date()).then(() => {
        batches.push({ fromMs: dueMs, throughMs: performance.now() });
        underWay.delete(stored);
      });
      underWay.add(stored);
    }
    await Promise.all(underWay);
  };
  const sampling = async (): Promise<void> => {
    while (!isDone) {
      const [row] = await watcher.query<{ ranMs: number | null; waitedMs: number | null }>(
        `select max(ms) as "ranMs", max(ms) filter (where wait_event_type = 'Lock') as "waitedMs"
           from (select extract(epoch from clock_timestamp() - query_start)::float8 * 1000 as ms,
                        wait_event_type
                   from pg_stat_activity where application_name = '${SENDER}' and state = 'active') s`,
      );
      longestStatement = Math.max(longestStatement, row?.ranMs ?? 0);
      longestLock = Math.max(longestLock, row?.waitedMs ?? 0);
      await sleep(SAMPLE_EVERY_MS, forever);
    }
  };
  const all = Promise.all([sending(), sampling(), watchWaits(watcher, folder, () => isDone)]);
  await work().finally(() => {
    isDone = true;
  });
  const [, , watched] = await all;
  const took = ({ fromMs, throughMs }: Span) => throughMs - fromMs;
  const sorted = batches.map(took).toSorted((a, b) => a - b);
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    longest: sorted.at(-1) ?? 0,
    longestStatement,
    longestLock,
    seconds: (performance.now() - startMs) / SECOND_MS,
    watched,
    slow: batches.toSorted((a, b) => took(b) - took(a)).slice(0, SLOW_BATCHES),
  };
}

function newBatch(): Parameters<typeof storeBatch>[1] {
  return Array.from({ length: BATCH_EVENTS }, () => {
    const eventId = `evt_${randomBytes(12).toString('hex')}`;
    const body = Buffer.from(JSON.stringify({ event_id: eventId, text: 'x'.repeat(1_400) }));
    return {
      eventId,
      merchantId: 'merchant_bench',
      eventType: 'payment_succeeded',
      subject: undefined,
      body,
      bodyHash: createHash('sha256').update(body).digest(),
      secretFingerprint: 0,
    };
  });
}

/** With the rests of the schedule, and without its end after 20 seconds. */
async function copyAll(db: Database): Promise<void> {
  for (;;) {
    const startMs = performance.now();
    const { events } = await copyNext(db, { ...COPY_LIMITS, settleMs: 30 * MINUTE_MS });
    if (events === 0) return;
    await sleep(restAfterMs(performance.now() - startMs), forever);
  }
}

async function packAndRemove(db: Database): Promise<void> {
  const times = { budgetMs: DEADLINE_MS, settleMs: 30 * MINUTE_MS, restMs: 0 };
  const run = createBodiesJob({ db, log: createLog('silent'), signal: forever, times });
  await run();
  await run();
  const before = new Date(Date.now() - DAY_MS);
  for (const { key } of await scanBodyDays(db, { before, after: 0, limit: 2 * DAYS })) {
    await db.transaction((tx) => removeBodyDays(tx, [key])).catch(() => undefined);
  }
}

function print(name: string, waits: Waits): void {
  const { p50, p99, longest, longestStatement, longestLock, seconds, watched, slow } = waits;
  const ms = (value: number) => `${value.toFixed(0).padStart(6)} ms`;
  console.log(
    `${name.padEnd(22)} ${seconds.toFixed(0).padStart(5)} s  p50 ${ms(p50)}  p99 ${ms(p99)}  ` +
      `longest ${ms(longest)}  longest statement ${ms(longestStatement)}  longest lock ${ms(longestLock)}`,
  );
  for (const line of describeWaits(watched, slow)) console.log(`    ${line}`);
}

async function measureAll(events: number, { folder, cleanup }: BenchParts): Promise<boolean> {
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const { url } = await postgres.createDatabase('bench_bodies');
  const open = (applicationName: string, maxConnections: number): Database => {
    const db = createDatabase({
      connectionString: url,
      log: createLog('silent'),
      applicationName,
      maxConnections,
      responseTimeoutMs: 30 * MINUTE_MS,
      plans: 'any',
    });
    cleanup.add(() => db.close());
    return db;
  };
  const [db, sender, watcher] = [open('bench', 1), open(SENDER, 4), open('watcher', 2)];
  await fill(db, events);
  console.log(`${events} events of an older version, PostgreSQL ${postgres.version}`);
  const results: Waits[] = [];
  for (const [name, work] of [
    ['nothing else', () => sleep(QUIET_MS, forever)],
    ['copying', () => copyAll(db)],
    ['packing and removing', () => packAndRemove(db)],
  ] as const) {
    const waits = await sendDuring({ sender, watcher, folder }, work);
    print(name, waits);
    results.push(waits);
    console.log(JSON.stringify(await measurePlaces(db)));
  }
  return results.every(({ longestLock }) => longestLock < MAX_LOCK_WAIT_MS);
}

await runBench({
  help: HELP,
  flags: { events: '1000000' },
  deadlineMs: DEADLINE_MS,
  run: ({ events }, parts) => measureAll(readCount('--events', events), parts),
});

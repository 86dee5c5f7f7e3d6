/** The ledger that pages are measured on: copies of a small one, posted over several months. */
import { sumNext } from '../../src/ledger/sumTransfers.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Cleanup } from '../cleanup.ts';
import { makeDatabase, onFastServer, withDatabase } from '../fastServer.ts';
import { countRows, insertCopies } from '../ledger/copies.ts';
import { applyTemplate } from '../ledger/template.ts';
import { quantile } from '../quantiles.ts';

export const DATABASE = 'bench_pages';

const COPIES_PER_STATEMENT = 50;
/** A copy of a thousand payments every two hours. */
const MINUTES_APART = 120;
/** Rows of the tables that grow with incidents, not with payments. */
const OTHER_ROWS = 20_000;

/** Makes the ledger in a folder; one that was made before stays as it is. */
export async function fill(dataDir: string, resources: number, cleanup: Cleanup): Promise<void> {
  await onFastServer(dataDir, cleanup, async (server) => {
    const url = await makeDatabase(server, DATABASE);
    await withDatabase(url, async (db) => {
      const isEmpty = (await countRows(db)).resources === 0;
      if (isEmpty) await fillLedger(db, url, resources);
      const areOthersNew = await fillOthers(db);
      // As autovacuum would have, some time after so many rows came in.
      if (isEmpty || areOthersNew) await db.query('vacuum analyze');
      if (await fillSums(db))
        await db.query('vacuum analyze transfer_sums, transfer_day_sums, open_spans');
    });
  });
}

async function fillLedger(db: Database, url: string, resources: number): Promise<void> {
  await applyTemplate(url);
  const template = await countRows(db);
  const copies = Math.ceil(resources / template.resources) - 1;
  await db.session(async (session) => {
    // Rows of the template have passed the checks that triggers make.
    await session.query('set session_replication_role = replica');
    // The template was posted first.
    await session.query(
      `update transfers set recorded_at = recorded_at - $1 * interval '1 minute'`,
      [(copies + 1) * MINUTES_APART],
    );
    for (let from = 1; from <= copies; from += COPIES_PER_STATEMENT) {
      const to = Math.min(copies, from + COPIES_PER_STATEMENT - 1);
      const { events } = template;
      await insertCopies(session, { from, to, events, minutesApart: MINUTES_APART });
      if (process.stderr.isTTY) process.stderr.write(`\r  copy ${to} of ${copies} `);
    }
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  });
}

/** The steps of the schedule, without its rests. @returns whether there was something to add */
async function fillSums(db: Database): Promise<boolean> {
  const times: number[] = [];
  let isMore = true;
  while (isMore) {
    const startMs = performance.now();
    isMore = await sumNext(db);
    if (isMore) times.push(performance.now() - startMs);
  }
  times.sort((one, other) => one - other);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(0));
  if (times.length > 0)
    console.log(
      `  sums stored in ${times.length} steps: p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms`,
    );
  return times.length > 0;
}

/** Alerts, findings, messages, runs, replays and erasures that are over, and a failed payout. @returns whether there were none before */
async function fillOthers(db: Database): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }>('select exists (select from messages) as has');
  if (row?.has) return false;
  await db.query(
    `insert into alerts (rule, subject, severity, state, sentence, next_step, detail, opened_at, resolved_at)
     select 'payout_failed', 'payout:po_' || n, 'warning', 'resolved', 'Payout po_' || n || ' failed.',
            'Create a new payout.', '{}', now() - n * interval '10 minutes', now()
       from generate_series(1, $1::int) n`,
    [OTHER_ROWS],
  );
  await db.query(
    `insert into findings (class, subject, state, detail, opened_at, closed_at)
     select 'missing_remotely', 'payment:pay_' || n, 'closed', '{}', now() - n * interval '10 minutes', now()
       from generate_series(1, $1::int) n`,
    [OTHER_ROWS],
  );
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', '{"kind": "test", "at": "2026-01-01T00:00:00Z"}', 'delivered',
            now(), now() - n * interval '10 minutes', now()
       from generate_series($1::int, 1, -1) n`,
    [OTHER_ROWS],
  );
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at,
                                 started_at, finished_at)
     select (array['payments', 'refunds', 'disputes', 'payouts'])[n % 4 + 1], 'full', 'operator', false,
            'done', at - interval '40 minutes', at, at, at, at
       from generate_series($1::int, 1, -1) n
      cross join lateral (select now() - n * interval '10 minutes' as at) t`,
    [OTHER_ROWS],
  );
  await db.query(
    `with runs as (
       insert into replay_runs (filter, reason, requested_by, planned, is_planned_complete, state,
                                position, replayed, finished_at)
       select '{"state": "dead"}', 'a bench', 'bench', 100, true, 'done', 1, 100, now()
         from generate_series(1, $1::int / 100) n
       returning id
     )
     insert into replay_steps (run_id, position, next_position, is_last, numbers, done_at)
     select id, 1000000 - step * 100, 999900 - step * 100, false,
            array(select generate_series(999901 - step * 100, 1000000 - step * 100)), now()
       from runs
      cross join generate_series(1, case id when 1 then 5000 else 1 end) step`,
    [OTHER_ROWS],
  );
  await db.query(
    `insert into erasures (subjects, reason, requested_by, state, copies_erased_at, finished_at, texts, remaining)
     select array['order:ord_' || n], 'a bench', 'bench', 'done', now(), now(), 1, 0
       from generate_series(1, $1::int / 100) n`,
    [OTHER_ROWS],
  );
  // The shop of the copies has no payout that failed.
  await db.query(
    `update resources set status = 'failed'
      where kind = 'payout' and id = (select min(id) from resources where kind = 'payout')`,
  );
  return true;
}

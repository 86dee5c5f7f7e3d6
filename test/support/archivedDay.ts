/** Packs past days of bodies, and archives and removes yesterday, as the schedule and retention do. */
import { withRemovalArchive } from '../../src/assembly/archive.ts';
import { createBodiesJob } from '../../src/ledger/bodies/job.ts';
import { PACK_LIMITS } from '../../src/ledger/bodies/packDay.ts';
import { removeBodyDays } from '../../src/ledger/bodies/removeBodies.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { silentLog } from './database.ts';

/** Packs and detaches past days, with several packs a day. */
export async function packDays(db: Database, restMs = 0): Promise<void> {
  const run = createBodiesJob({
    db,
    log: silentLog,
    signal: new AbortController().signal,
    limits: {
      pack: { ...PACK_LIMITS, stepBodies: 64, packBodies: 16 },
      copy: { events: 50, bytes: 1_000_000 },
    },
    times: { budgetMs: 60_000, settleMs: 0, restMs },
  });
  await run();
  await run();
}

/** Archives and removes yesterday, as a step of retention does. */
export async function removeYesterday(db: Database, folder: string): Promise<void> {
  const [row] = await db.query<{ day: number }>(
    `select (now() at time zone 'UTC')::date - 1 - date '1970-01-01' as day`,
  );
  const days = [row?.day ?? 0];
  await withRemovalArchive(
    { kind: 'folder', folder },
    { db, clock: systemClock },
    async ({ beforeRemoval }) => {
      const record = await beforeRemoval?.('bodies', days);
      await db.transaction(async (tx) => record?.(tx, await removeBodyDays(tx, days)));
    },
  );
}

/** Makes everything that was received today an event of yesterday. */
export async function receiveYesterday(db: Database): Promise<void> {
  const yesterday = `(now() at time zone 'UTC')::date - 1`;
  await db.query(`select ensure_body_day(${yesterday})`);
  await db.query(
    `insert into webhook_bodies (day, webhook_event_id, body)
     select ${yesterday}, webhook_event_id, body from webhook_bodies`,
  );
  await db.query(`delete from webhook_bodies where day <> ${yesterday}`);
  await db.query(
    `update webhook_events set body_day = ${yesterday}, received_at = received_at - interval '1 day'`,
  );
}

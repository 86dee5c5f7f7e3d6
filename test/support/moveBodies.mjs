/**
 * Copies, packs and removes bodies in small steps until nothing is left to do, so that a test can kill the
 * process in the middle. Days that ended more than the given number of days ago are removed.
 */
import { createBodiesJob } from '../../dist/src/ledger/bodies/job.js';
import { PACK_LIMITS } from '../../dist/src/ledger/bodies/packDay.js';
import { removeBodyDays } from '../../dist/src/ledger/bodies/removeBodies.js';
import { readCopyState } from '../../dist/src/ledger/bodies/store/copy.js';
import { scanBodyDays } from '../../dist/src/ledger/bodies/store/removal.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';

const [connectionString, keptDays] = process.argv.slice(2);
const log = createLog('silent');
const db = createDatabase({
  connectionString,
  log,
  applicationName: 'move-bodies',
  maxConnections: 2,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const run = createBodiesJob({
  db,
  log,
  signal: new AbortController().signal,
  times: { budgetMs: 1_000, settleMs: 0, restMs: 0 },
  limits: {
    pack: { ...PACK_LIMITS, stepBodies: 16, packBodies: 8 },
    copy: { events: 20, bytes: 1_000_000 },
  },
});
const [{ today }] = await db.query(
  `select (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' as today`,
);
const before = new Date(today.getTime() - Number(keptDays) * 86_400_000);
process.stdout.write('ready\n');
for (;;) {
  const days = await scanBodyDays(db, { before, after: 0, limit: 1_000 });
  const removable = days.find(({ isRemovable }) => isRemovable);
  if (removable) await db.transaction((tx) => removeBodyDays(tx, [removable.key]));
  else await run();
  const [{ left }] = await db.query(
    `select count(*) as left from body_days d
      where d.day < (now() at time zone 'UTC')::date and d.state <> 'removed'
        and (d.state = 'open' or (d.day + 1)::timestamp at time zone 'UTC' <= $1
             or exists (select from pg_inherits
                         where inhparent = 'webhook_bodies'::regclass
                           and inhrelid = to_regclass('webhook_bodies_' || to_char(d.day, 'YYYYMMDD'))))`,
    [before.toISOString()],
  );
  const { isCopying } = await readCopyState(db);
  if (left === 0 && !isCopying) break;
}
process.stdout.write('done\n');
await db.close();

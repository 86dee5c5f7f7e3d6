/** Runs the roles that a hold concerns, at a time that is ahead of the database's by the milliseconds given. */
import { start } from '../../dist/src/assembly/start.js';
import { loadConfig } from '../../dist/src/config/config.js';
import { readDatabaseTimeMs } from '../../dist/src/platform/db/databaseClock.js';
import { createLog } from '../../dist/src/platform/log.js';

const aheadMs = Number(process.argv[2]);
const roles = new Set(['receiver', 'events', 'reconcile', 'alerts', 'scheduler']);
await start(loadConfig(process.env), roles, {
  machine: { nowMs: () => Date.now() + aheadMs },
  readTimeMs: async (db) => (await readDatabaseTimeMs(db)) + aheadMs,
  log: createLog('info'),
});

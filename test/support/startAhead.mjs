/** Runs the roles that a hold concerns, by a clock that is ahead of the machine's by the milliseconds given. */
import { start } from '../../dist/src/assembly/start.js';
import { loadConfig } from '../../dist/src/platform/config.js';
import { createLog } from '../../dist/src/platform/log.js';

const aheadMs = Number(process.argv[2]);
const roles = new Set(['receiver', 'events', 'reconcile', 'alerts', 'scheduler']);
const clock = { nowMs: () => Date.now() + aheadMs };
await start(loadConfig(process.env), roles, { clock, log: createLog('info') });

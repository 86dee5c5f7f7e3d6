/** Proves a share of the ledger in small ranges, so that a test can kill the process in the middle. */
import { checkRange } from '../../dist/src/ledger/verify/checkRange.js';
import { proveLedger } from '../../dist/src/ledger/verify/proveLedger.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';

const [connectionString, merchantId, fullDays] = process.argv.slice(2);
const db = createDatabase({
  connectionString,
  log: createLog('silent'),
  applicationName: 'prove-ledger',
  maxConnections: 2,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const result = await proveLedger(db, {
  merchantId,
  mode: 'incremental',
  fullDays: Number(fullDays),
  rangeRows: 4,
  openCheckers: () => [(task) => checkRange(db, task)],
  onProgress: ({ done }) => process.stdout.write(`${done} ranges\n`),
});
process.stdout.write(`${result.outcome}\n`);
await db.close();

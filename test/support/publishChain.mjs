/** Appends small blocks to the chain until nothing is left, so that a test can kill the process in the middle. */
import { appendNext } from '../../dist/src/ledger/chain/publishChain.js';
import { fenceJournal } from '../../dist/src/ledger/fenceJournal.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';

const [connectionString] = process.argv.slice(2);
const db = createDatabase({
  connectionString,
  log: createLog('silent'),
  applicationName: 'publish-chain',
  maxConnections: 1,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const throughId = await fenceJournal(db);
for (;;) {
  const block = await appendNext(db, { throughId, key: undefined, limit: 10 });
  if (!block) break;
  process.stdout.write(`block ${block.number}\n`);
}
await db.close();

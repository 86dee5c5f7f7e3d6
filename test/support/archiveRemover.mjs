// Archives and removes settled messages until none is left, and prints what it is about to do. Tests kill
// it. Arguments: URL of the database, folder of the archive.
import { archiveRows } from '../../dist/src/archive/archiveRemoved.js';
import { createFolderTarget } from '../../dist/src/archive/folderTarget.js';
import { readMessageLines } from '../../dist/src/notify/store/archiveLines.js';
import { systemClock } from '../../dist/src/platform/clock.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';

const [, , connectionString, folder] = process.argv;
const STEP_ROWS = 40;

const db = createDatabase({
  connectionString,
  log: createLog('silent'),
  applicationName: 'archive-remover',
  maxConnections: 2,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const target = createFolderTarget(folder);
const parts = {
  db,
  target: {
    ...target,
    put: async (name, bytes) => {
      print('put');
      await target.put(name, bytes);
      print('stored');
    },
  },
  clock: systemClock,
  installation: undefined,
  version: 'test',
  lines: { messages: readMessageLines },
  // Several parts for each batch.
  limits: { linesBytes: 2_000, compressedBytes: 1_000_000 },
};
for (;;) {
  print('pick');
  const rows = await db.query(
    `select number from messages where state <> 'due' order by number limit ${STEP_ROWS}`,
  );
  if (rows.length === 0) break;
  const keys = rows.map(({ number }) => number);
  print('archive');
  const record = await archiveRows(parts, 'messages', keys);
  print('remove');
  await db.transaction(async (tx) => {
    const removed = await tx.query(
      'delete from messages where number = any ($1::bigint[]) returning number',
      [keys],
    );
    await record(tx, removed.length);
    print('commit');
  });
}
await db.close();

function print(moment) {
  process.stdout.write(`${moment}\n`);
}

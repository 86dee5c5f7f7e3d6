// Runs retention with an archive until nothing is left to remove, and kills itself at a point of the work, the
// given number of times that it comes there. Arguments: URL of the database, folder of the archive, the
// class (messages or bodies), the point, and the number; 0: never.
//
//   put     before an object is visible. The process first goes on until it has nothing else to do, so that
//           code that does not wait for the object removes rows without it.
//   stored  after an object is visible
//   remove  before the transaction that removes
//   commit  before that transaction is committed
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const [, , connectionString, folder, className, point, number] = process.argv;

let left = Number(number);
function isHere(name) {
  if (name !== point) return false;
  left -= 1;
  return left === 0;
}
function die() {
  process.kill(process.pid, 'SIGKILL');
}

let sentQueries = 0;
let openQueries = 0;
const send = pg.Client.prototype.query;
pg.Client.prototype.query = function (...given) {
  const result = send.apply(this, given);
  sentQueries += 1;
  openQueries += 1;
  const end = () => {
    openQueries -= 1;
  };
  result?.then?.(end, end);
  return result;
};

/** Whether the process has sent nothing to the database for a while, and waits for nothing from it. */
async function becomeIdle() {
  for (let quiet = 0, before = -1; quiet < 20; ) {
    quiet = openQueries === 0 && sentQueries === before ? quiet + 1 : 0;
    before = sentQueries;
    await pause(5);
  }
}

// An object of the archive becomes visible by its new name.
const rename = fs.rename;
fs.rename = async (...names) => {
  if (isHere('put')) {
    await becomeIdle();
    die();
  }
  await rename(...names);
  if (isHere('stored')) die();
};
syncBuiltinESMExports();

const { archiveRows } = await import('../../dist/src/archive/archiveRemoved.js');
const { createFolderTarget } = await import('../../dist/src/archive/folderTarget.js');
const { withRemovalArchive } = await import('../../dist/src/assembly/archive.js');
const { readMessageLines } = await import('../../dist/src/notify/store/archiveLines.js');
const { systemClock } = await import('../../dist/src/platform/clock.js');
const { createDatabase } = await import('../../dist/src/platform/db/database.js');
const { createLog } = await import('../../dist/src/platform/log.js');
const { sleep } = await import('../../dist/src/platform/sleep.js');
const { removeOld } = await import('../../dist/src/retention/removeOld.js');

const db = createDatabase({
  connectionString,
  log: createLog('silent'),
  applicationName: 'archive-remover',
  maxConnections: 2,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const parts = {
  db,
  target: createFolderTarget(folder),
  clock: systemClock,
  installation: undefined,
  version: 'test',
  lines: { messages: readMessageLines },
  // Several parts for each batch.
  limits: { linesBytes: 20_000, compressedBytes: 1_000_000 },
};
const beforeRemoval = withPoints((name, keys) => archiveRows(parts, name, keys));
const limits = { longestMs: 3_600_000, signal: new AbortController().signal };
if (className === 'messages') {
  await removeOld(
    { db, sleep, days: { messages: 30 }, machine: systemClock, beforeRemoval },
    limits,
  );
} else {
  await withRemovalArchive({ kind: 'folder', folder }, { db, clock: systemClock }, (archive) =>
    removeOld(
      {
        db,
        sleep,
        days: { bodies: 1 },
        machine: systemClock,
        beforeRemoval: withPoints(archive.beforeRemoval),
      },
      limits,
    ),
  );
}
await db.close();

function withPoints(hook) {
  return async (name, keys) => {
    const record = await hook(name, keys);
    if (isHere('remove')) die();
    return async (tx, removed) => {
      await record(tx, removed);
      if (isHere('commit')) die();
    };
  };
}

// Runs retention with an archive until nothing is left to remove, and prints what it is about to do. Tests
// kill it. Arguments: URL of the database, folder of the archive, and the class: messages or bodies.
import { archiveRows } from '../../dist/src/archive/archiveRemoved.js';
import { createFolderTarget } from '../../dist/src/archive/folderTarget.js';
import { withRemovalArchive } from '../../dist/src/assembly/archive.js';
import { readMessageLines } from '../../dist/src/notify/store/archiveLines.js';
import { systemClock } from '../../dist/src/platform/clock.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';
import { removeOld } from '../../dist/src/retention/removeOld.js';

const [, , connectionString, folder, className] = process.argv;

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
  limits: { linesBytes: 20_000, compressedBytes: 1_000_000 },
};
const beforeRemoval = printing((name, keys) => archiveRows(parts, name, keys));
const limits = { longestMs: 3_600_000, signal: new AbortController().signal };
if (className === 'messages') {
  await removeOld({ db, days: { messages: 30 }, beforeRemoval }, limits);
} else {
  await withRemovalArchive({ kind: 'folder', folder }, { db, clock: systemClock }, (archive) =>
    removeOld({ db, days: { bodies: 1 }, beforeRemoval: printing(archive.beforeRemoval) }, limits),
  );
}
await db.close();

/** Prints the moments of a step around a hook. */
function printing(hook) {
  return async (name, keys) => {
    print('archive');
    const record = await hook(name, keys);
    print('remove');
    return async (tx, removed) => {
      await record(tx, removed);
      print('commit');
    };
  };
}

function print(moment) {
  process.stdout.write(`${moment}\n`);
}

/**
 * What is left of a ledger after retention with the default settings: the program's own code removes
 * what is past its days, without pause and without other load.
 */
import { z } from 'zod';
import { RETENTION_SETTINGS, retentionOf } from '../../src/config/retentionSettings.ts';
import { dropDetachedPartition } from '../../src/ledger/bodies/store/packing.ts';
import { startStopwatch, systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { type RemovedRows, removeOld } from '../../src/retention/removeOld.ts';
import { rebuildIndexes, suspendIndexes } from './indexes.ts';
import { readSizes, type TableSize, totalBytes } from './sizes.ts';

export interface AgingFigures {
  readonly retentionSeconds: number;
  readonly removed: readonly RemovedRows[];
  readonly beforeBytes: number;
  /** After a vacuum: the space of removed rows is in the files, for new rows. */
  readonly fileBytes: number;
  /** Without the space of removed rows: what the rows that are left need. */
  readonly liveBytes: number;
  readonly live: readonly TableSize[];
}

/** Tables that retention deletes rows of; of bodies, it drops whole partitions. */
const SHRUNK_TABLES = ['webhook_events', 'messages', 'changes'] as const;

const LONGEST_MS = 2 * 3_600_000;

export async function measureAging(connectionString: string): Promise<AgingFigures> {
  const db = createDatabase({
    connectionString,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-growth',
    maxConnections: 2,
    responseTimeoutMs: LONGEST_MS,
    plans: 'any',
  });
  try {
    const beforeBytes = totalBytes(await readSizes(db));
    const days = retentionOf(z.object(RETENTION_SETTINGS).parse({}));
    const elapsedSeconds = startStopwatch();
    const { signal } = new AbortController();
    const removed = await removeOld(
      { db, days, sleep: () => Promise.resolve(), machine: systemClock },
      { longestMs: LONGEST_MS, signal },
    );
    const retentionSeconds = elapsedSeconds();
    await dropDetached(db);
    await db.query('vacuum analyze');
    const fileBytes = totalBytes(await readSizes(db));
    await rewrite(db);
    const live = await readSizes(db);
    const liveBytes = totalBytes(live);
    return { retentionSeconds, removed, beforeBytes, fileBytes, liveBytes, live };
  } finally {
    await db.close();
  }
}

/** As the program does two days after it detached them. */
async function dropDetached(db: Database): Promise<void> {
  const rows = await db.query<{ name: string }>(
    'select name from detached_partitions where dropped_at is null limit 10000',
  );
  for (const { name } of rows) await dropDetachedPartition(db, name, true);
}

/** Writes the tables again without the space of removed rows, their indexes as full as before. */
async function rewrite(db: Database): Promise<void> {
  for (const table of SHRUNK_TABLES) await db.query(`vacuum full analyze ${table}`);
  await suspendIndexes(db, SHRUNK_TABLES);
  await rebuildIndexes(db, SHRUNK_TABLES);
}

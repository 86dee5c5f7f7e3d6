/** The archive of what retention removes. */
import { readAlertLines } from '../alerts/store/archiveLines.ts';
import { archiveRows, type ReadLines } from '../archive/archiveRemoved.ts';
import { openArchiveTarget } from '../archive/openTarget.ts';
import { refuseOtherArchive } from '../archive/provePlace.ts';
import { recordBatch } from '../archive/store/batches.ts';
import { type WriteParts, type WrittenBatch, writeBatch } from '../archive/writeBatch.ts';
import type { ArchiveSettings } from '../config/archiveSettings.ts';
import { readDayLines } from '../ledger/bodies/archiveDay.ts';
import { readChangeLines, readEventLines, readFindingLines } from '../ledger/store/archiveLines.ts';
import { readInstallation } from '../ledger/store/installation.ts';
import { readMessageLines } from '../notify/store/archiveLines.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { packageVersion } from '../platform/packageRoot.ts';
import { readRunLines } from '../reconcile/store/archiveLines.ts';
import type { ClassName } from '../retention/classes.ts';
import type { RecordRemoval, RetentionParts } from '../retention/removeOld.ts';

const BODIES = 'bodies';
/** Not archived: the audit log has who signed in, and the rest are addresses and digests of cookies. */
const SESSIONS = 'sessions';

/** How the rows of each class are read for the archive. Bodies are archived by days. */
const LINES: Readonly<Record<Exclude<ClassName, typeof BODIES | typeof SESSIONS>, ReadLines>> = {
  events: readEventLines,
  messages: readMessageLines,
  changes: readChangeLines,
  alerts: readAlertLines,
  findings: readFindingLines,
  runs: readRunLines,
};

type BeforeRemoval = NonNullable<RetentionParts['beforeRemoval']>;

/** What retention calls before it removes rows; nothing if there is no archive. */
export async function withRemovalArchive<T>(
  settings: ArchiveSettings | undefined,
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  work: (archive: { readonly beforeRemoval?: BeforeRemoval }) => Promise<T>,
): Promise<T> {
  if (settings === undefined) return work({});
  const target = await openArchiveTarget(settings);
  try {
    const installation = await readInstallation(db);
    const parts = { db, target, clock, installation, version: packageVersion(), lines: LINES };
    let proven: Promise<void> | undefined;
    return await work({
      beforeRemoval: async (name, keys) => {
        if (name === SESSIONS) return async () => undefined;
        proven ??= refuseOtherArchive(db, target);
        await proven;
        return await (name === BODIES ? archiveDays(parts, keys) : archiveRows(parts, name, keys));
      },
    });
  } finally {
    target.close();
  }
}

/** Archives the bodies of days, which are named by their numbers since 1970. */
async function archiveDays(
  parts: WriteParts & { readonly db: Database },
  days: readonly number[],
): Promise<RecordRemoval> {
  const batches: WrittenBatch[] = [];
  for (const day of days) {
    const written = await writeBatch(parts, BODIES, readDayLines(parts.db, day));
    if (written) batches.push(written);
  }
  return async (tx, removed) => {
    if (removed === 0) return;
    for (const batch of batches) await recordBatch(tx, batch, batch.rows);
  };
}

/** The archive of what retention removes. */
import { readAlertLines } from '../alerts/store/archiveLines.ts';
import { archiveRows, type ReadLines, type RecordRemoval } from '../archive/archiveRemoved.ts';
import { openArchiveTarget } from '../archive/openTarget.ts';
import type { ArchiveSettings } from '../config/archiveSettings.ts';
import { readChangeLines, readEventLines, readFindingLines } from '../ledger/store/archiveLines.ts';
import { readInstallation } from '../ledger/store/installation.ts';
import { readMessageLines } from '../notify/store/archiveLines.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { packageVersion } from '../platform/packageRoot.ts';
import { readRunLines } from '../reconcile/store/archiveLines.ts';

/** How the rows of each class are read for the archive. */
const LINES: Readonly<Record<string, ReadLines>> = {
  events: readEventLines,
  messages: readMessageLines,
  changes: readChangeLines,
  alerts: readAlertLines,
  findings: readFindingLines,
  runs: readRunLines,
};

export interface RemovalArchive {
  /** Archives rows before they are removed. */
  readonly archive: (className: string, keys: readonly number[]) => Promise<RecordRemoval>;
  readonly close: () => void;
}

export async function openRemovalArchive(
  settings: ArchiveSettings,
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<RemovalArchive> {
  const target = await openArchiveTarget(settings);
  const installation = await readInstallation(db);
  const parts = { db, target, clock, installation, version: packageVersion(), lines: LINES };
  return {
    archive: (className, keys) => archiveRows(parts, className, keys),
    close: () => target.close(),
  };
}

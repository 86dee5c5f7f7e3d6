/** Findings of comparisons: each call is a transaction of its own. */
import type { Finding } from '../ledger/domain/findings.ts';
import { closeClasses, openFindings } from '../ledger/recordFindings.ts';
import type { Database } from '../platform/db/database.ts';
import type { Stream } from './streams.ts';

/** Opens findings; one that is open keeps its place, and takes a detail that changed. */
export function openComparison(db: Database, findings: readonly Finding[]): Promise<void> {
  return db.transaction((tx) => openFindings(tx, findings));
}

/** Closes open findings of some classes about subjects that compare as equal now. */
export function closeComparison(
  db: Database,
  classes: readonly string[],
  subjects: readonly string[],
): Promise<void> {
  return db.transaction((tx) => closeClasses(tx, classes, subjects));
}

/** Who asks the service: each has a finding of its own, which what the others ask cannot close. */
export type Asker = Stream | 'refresh';

/** Says that the service cannot be asked; since when is kept while that lasts. */
export function openUnusable(db: Database, asker: Asker, reason: string): Promise<void> {
  const subject = `service:${asker}`;
  return openComparison(db, [{ class: 'service_unusable', subject, detail: { reason } }]);
}

/** Says that it can, once it has been. */
export function closeUnusable(db: Database, asker: Asker): Promise<void> {
  return closeComparison(db, ['service_unusable'], [`service:${asker}`]);
}

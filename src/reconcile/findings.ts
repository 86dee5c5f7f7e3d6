/** Findings of comparisons: each call is a transaction of its own. */
import type { Finding } from '../ledger/domain/findings.ts';
import { closeClasses, openFindings } from '../ledger/recordFindings.ts';
import type { Database } from '../platform/db/database.ts';

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

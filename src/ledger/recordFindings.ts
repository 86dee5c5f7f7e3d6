/**
 * Opens and closes findings, each with its alert, in the caller's transaction. Nothing else does. If
 * nothing opens, changes or closes, nothing is written.
 */
import { syncFindingAlerts } from '../alerts/syncFindingAlerts.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Finding } from './domain/findings.ts';
import {
  type FindingName,
  markClassesClosed,
  markClosed,
  markSubjectClosed,
  upsertFindings,
} from './store/findings.ts';

/** Opens findings, or updates those that are open. No two have the same class and subject. */
export async function openFindings(tx: Queryable, findings: readonly Finding[]): Promise<void> {
  await open(tx, findings);
}

/** @returns the findings that were opened or changed */
async function open(tx: Queryable, findings: readonly Finding[]): Promise<readonly FindingName[]> {
  if (findings.length === 0) return [];
  const changed = await upsertFindings(tx, findings);
  await syncFindingAlerts(tx, { open: changed, closed: [] });
  return changed;
}

/** Closes findings that no longer hold. */
export async function closeFindings(tx: Queryable, names: readonly FindingName[]): Promise<void> {
  if (names.length === 0) return;
  await syncFindingAlerts(tx, { open: [], closed: await markClosed(tx, names) });
}

/** Closes findings of any of these classes about any of these subjects. */
export async function closeClasses(
  tx: Queryable,
  classes: readonly string[],
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  await syncFindingAlerts(tx, { open: [], closed: await markClassesClosed(tx, classes, subjects) });
}

/** Closes every open finding about a subject, because a person handles it. */
export async function closeSubject(tx: Queryable, subject: string): Promise<void> {
  await syncFindingAlerts(tx, { open: [], closed: await markSubjectClosed(tx, subject) });
}

/** A subject with the findings that hold now and the classes of open findings that no longer do. */
export interface SubjectFindings {
  readonly subject: string;
  readonly shown: readonly Finding[];
  readonly passed: readonly string[];
}

/**
 * Opens the findings that hold and closes those that no longer do, as two sets.
 * @returns the findings that were opened or changed
 */
export async function recordFindings(
  tx: Queryable,
  subjects: readonly SubjectFindings[],
): Promise<readonly FindingName[]> {
  const changed = await open(
    tx,
    subjects.flatMap(({ shown }) => shown),
  );
  await closeFindings(
    tx,
    subjects.flatMap(({ subject, passed }) => passed.map((name) => ({ class: name, subject }))),
  );
  return changed;
}

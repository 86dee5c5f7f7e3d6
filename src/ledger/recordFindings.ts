/**
 * Opens and closes findings, each with its alert, in the caller's transaction. Nothing else does. If
 * nothing opens, changes or closes, nothing is written.
 */
import { syncFindingAlerts } from '../alerts/syncFindingAlerts.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Caused, Finding, FindingClass } from './domain/findings.ts';
import {
  type FindingName,
  markClassesClosed,
  markClosed,
  markSubjectsClosed,
  upsertFindings,
} from './store/findings.ts';

/** Opens findings, or updates those that are open. No two have the same class and subject. */
export async function openFindings(
  tx: Queryable,
  findings: readonly (Finding & Caused)[],
): Promise<void> {
  await open(tx, findings);
}

/** @returns the findings that were opened or changed */
async function open(
  tx: Queryable,
  findings: readonly (Finding & Caused)[],
): Promise<readonly FindingName[]> {
  if (findings.length === 0) return [];
  const changed = await upsertFindings(tx, findings);
  await syncFindingAlerts(tx, { open: withCauses(changed, findings), closed: [] });
  return changed;
}

/** Closes findings that no longer hold. */
export async function closeFindings(
  tx: Queryable,
  names: readonly (FindingName & Caused)[],
): Promise<void> {
  if (names.length === 0) return;
  const closed = await markClosed(tx, names);
  await syncFindingAlerts(tx, { open: [], closed: withCauses(closed, names) });
}

/** What a statement returned, with the causes of what it was given. */
function withCauses<Name extends FindingName>(
  written: readonly Name[],
  given: readonly (FindingName & Caused)[],
): readonly (Name & Caused)[] {
  const keyOf = ({ class: name, subject }: FindingName) => JSON.stringify([name, subject]);
  const causes = new Map(given.map((finding) => [keyOf(finding), finding.causedBy]));
  return written.map((finding) => ({ ...finding, causedBy: causes.get(keyOf(finding)) }));
}

/** Closes findings of any of these classes about any of these subjects. */
export async function closeClasses(
  tx: Queryable,
  classes: readonly FindingClass[],
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  await syncFindingAlerts(tx, { open: [], closed: await markClassesClosed(tx, classes, subjects) });
}

/** Closes every open finding about these subjects, because a person handles them. */
export async function closeSubjects(tx: Queryable, subjects: readonly string[]): Promise<void> {
  await syncFindingAlerts(tx, { open: [], closed: await markSubjectsClosed(tx, subjects) });
}

/** A subject with the findings that hold now and the classes of open findings that no longer do. */
export interface SubjectFindings extends Caused {
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
    subjects.flatMap(({ shown, causedBy }) => shown.map((finding) => ({ ...finding, causedBy }))),
  );
  await closeFindings(
    tx,
    subjects.flatMap(({ subject, passed, causedBy }) =>
      passed.map((name) => ({ class: name, subject, causedBy })),
    ),
  );
  return changed;
}

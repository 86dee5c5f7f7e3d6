/**
 * The one place through which findings are opened and closed: each with its alert, in the transaction
 * that does it. Nothing is written where nothing opens, changes or closes.
 */
import { settleFindings } from '../alerts/settleFindings.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Finding } from './domain/findings.ts';
import {
  endClasses,
  endFindings,
  endSubject,
  type FindingName,
  upsertFindings,
} from './store/findings.ts';

/** Opens findings, or brings those that are open up to date. Classes and subjects are distinct. */
export async function openFindings(tx: Queryable, findings: readonly Finding[]): Promise<void> {
  await open(tx, findings);
}

/** @returns those that were opened, or show something else than before */
async function open(tx: Queryable, findings: readonly Finding[]): Promise<readonly FindingName[]> {
  if (findings.length === 0) return [];
  const changed = await upsertFindings(tx, findings);
  await settleFindings(tx, { open: changed, over: [] });
  return changed;
}

/** Closes findings whose test passes now. */
export async function closeFindings(tx: Queryable, names: readonly FindingName[]): Promise<void> {
  if (names.length === 0) return;
  await settleFindings(tx, { open: [], over: await endFindings(tx, names) });
}

/** Closes findings of any of these classes about any of these subjects. */
export async function closeClasses(
  tx: Queryable,
  classes: readonly string[],
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  await settleFindings(tx, { open: [], over: await endClasses(tx, classes, subjects) });
}

/** Closes everything that is open about a subject, because somebody is dealing with it. */
export async function closeSubject(tx: Queryable, subject: string): Promise<void> {
  await settleFindings(tx, { open: [], over: await endSubject(tx, subject) });
}

/** One subject: what it shows now, and the classes that are open about it and pass now. */
export interface SubjectFindings {
  readonly subject: string;
  readonly shown: readonly Finding[];
  readonly passed: readonly string[];
}

/**
 * Opens what subjects show now and closes what passes, as two sets.
 * @returns the findings that were opened, or show something else than before
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

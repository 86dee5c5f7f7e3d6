/** Counts the results of the checks. It keeps the first offenders of each, so its size is bounded. */
import {
  CHECKS,
  type CheckName,
  type CheckResult,
  MAX_OFFENDERS,
  type Offender,
  REBUILD_CHECKS,
} from '../domain/checks.ts';
import { type ResourceRef, refKey } from '../domain/snapshot.ts';

export type Subject = Omit<Offender, 'problem'>;

export interface Tally {
  /** Adds to the number of checked subjects. */
  addChecked(name: CheckName, count: number): void;
  /** Records the subject as an offender if there are problems. */
  report(name: CheckName, subject: Subject, problems: readonly string[]): void;
  results(): readonly CheckResult[];
}

/** A resource as a subject, with the newest event about it. */
export function subjectOf(
  ref: ResourceRef,
  brought: readonly { readonly webhookEventId: number | null }[],
): Subject {
  const event = brought.reduce((newest, one) => Math.max(newest, one.webhookEventId ?? 0), 0);
  return { subject: refKey(ref), ...(event > 0 && { event }) };
}

export function createTally({ rebuild }: { readonly rebuild: boolean }): Tally {
  const meanings: Partial<Record<CheckName, string>> = {
    ...CHECKS,
    ...(rebuild ? REBUILD_CHECKS : {}),
  };
  const counts = new Map(
    (Object.keys(meanings) as CheckName[]).map((name) => [
      name,
      { checked: 0, failures: 0, offenders: [] as Offender[] },
    ]),
  );
  const countOf = (name: CheckName) => {
    const count = counts.get(name);
    if (!count) throw new Error(`the check ${name} does not belong to this run`);
    return count;
  };
  return {
    addChecked: (name, count) => {
      countOf(name).checked += count;
    },
    report: (name, subject, problems) => {
      if (problems.length === 0) return;
      const count = countOf(name);
      count.failures += 1;
      if (count.offenders.length < MAX_OFFENDERS) {
        count.offenders.push({ ...subject, problem: problems.join('; ') });
      }
    },
    results: () =>
      [...counts].map(([name, count]) => ({ name, meaning: meanings[name] ?? '', ...count })),
  };
}

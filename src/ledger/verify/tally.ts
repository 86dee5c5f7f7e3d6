/** Counts the results of the checks. It keeps the first offenders of each, so its size is bounded. */
import {
  CHECKS,
  type CheckCount,
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
  /** Adds what was found in a part of the ledger. A subject may be in several parts; it is named once. */
  add(counts: readonly CheckCount[]): void;
  /** The results of the checks that found a subject. */
  counts(): readonly CheckCount[];
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
    add: (found) => {
      for (const { name, checked, failures, offenders } of found) {
        const count = countOf(name);
        const known = new Set(count.offenders.map(({ subject }) => subject));
        const others = offenders.filter(({ subject }) => !known.has(subject));
        count.checked += checked;
        count.failures += failures - (offenders.length - others.length);
        count.offenders.push(...others.slice(0, MAX_OFFENDERS - count.offenders.length));
      }
    },
    counts: () =>
      [...counts].flatMap(([name, count]) =>
        count.checked > 0 || count.failures > 0 ? [{ name, ...count }] : [],
      ),
    results: () =>
      [...counts].map(([name, count]) => ({ name, meaning: meanings[name] ?? '', ...count })),
  };
}

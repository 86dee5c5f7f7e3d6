/** Counts what the checks find. It keeps a few offenders of each, so its size is bounded. */
import {
  CHECKS,
  type CheckName,
  type CheckResult,
  MAX_OFFENDERS,
  type Offender,
  REBUILD_CHECKS,
} from '../domain/checks.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { refKey } from '../lockPlan.ts';

export type Subject = Omit<Offender, 'problem'>;

export interface Tally {
  /** `count` more subjects were looked at. */
  looked(name: CheckName, count: number): void;
  /** The subject is an offender if there is a problem with it. */
  judge(name: CheckName, subject: Subject, problems: readonly string[]): void;
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
    looked: (name, count) => {
      countOf(name).checked += count;
    },
    judge: (name, subject, problems) => {
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

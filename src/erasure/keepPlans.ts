/**
 * Keeps plans of erasures, which read every stored body and may take minutes, so that a person can leave
 * the page of a plan and find it again.
 *
 * 1. Plans are in the memory of the process: one that is lost is made again, and nothing was erased.
 * 2. A plan keeps counts, and of the people what was named, but none of their values.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import { OperatorError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { ErasureSubject } from './domain/subjects.ts';

/** What an erasure would erase, as counts. */
export interface PlanCounts {
  /** Numbers of resources by kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly events: number;
  readonly values: number;
  readonly pending: readonly number[];
  readonly dead: readonly number[];
  readonly unknown: readonly ErasureSubject[];
  /** Number of a request for the same that is not done. */
  readonly running: number | undefined;
}

export type PlanState =
  | { readonly state: 'reading'; readonly bodies: number }
  | { readonly state: 'planned'; readonly counts: PlanCounts }
  | { readonly state: 'failed'; readonly message: string };

export interface KeptPlan {
  readonly id: string;
  readonly subjects: readonly ErasureSubject[];
  readonly startedMs: number;
  readonly now: PlanState;
}

export interface ErasurePlans {
  /** @returns the id of the plan; undefined while too many others are being made */
  readonly begin: (subjects: readonly ErasureSubject[]) => string | undefined;
  readonly find: (id: string) => KeptPlan | undefined;
}

export type MakePlan = (
  subjects: readonly ErasureSubject[],
  onProgress: (bodies: number) => void,
) => Promise<PlanCounts>;

const MAX_KEPT = 20;
/** Each reads the whole inbox. */
const MAX_READING = 2;

const FAILED = 'The plan failed unexpectedly. The log of the console has the cause. Plan again.';

export function keepPlans(
  makePlan: MakePlan,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): ErasurePlans {
  const kept = new Map<string, KeptPlan>();
  const set = (plan: KeptPlan, now: PlanState) => void kept.set(plan.id, { ...plan, now });
  return {
    begin: (subjects) => {
      const reading = [...kept.values()].filter(({ now }) => now.state === 'reading').length;
      if (reading >= MAX_READING) return undefined;
      const now: PlanState = { state: 'reading', bodies: 0 };
      const plan: KeptPlan = { id: randomUUID(), subjects, startedMs: clock.nowMs(), now };
      kept.set(plan.id, plan);
      for (const { id, now: old } of kept.values()) {
        if (kept.size > MAX_KEPT && old.state !== 'reading') kept.delete(id);
      }
      void makePlan(subjects, (bodies) => set(plan, { state: 'reading', bodies })).then(
        (counts) => set(plan, { state: 'planned', counts }),
        (error: unknown) => {
          const isKnown = error instanceof OperatorError;
          if (!isKnown) log.error({ error }, 'console.erasure_plan_failed');
          set(plan, { state: 'failed', message: isKnown ? error.message : FAILED });
        },
      );
      return plan.id;
    },
    find: (id) => kept.get(id),
  };
}

/** What open pages may cost (invariant 5 of watcher.ts). */

/** Of the time. */
const SHARE = 0.03;
const MAX_ALLOWANCE_MS = 600;
/** What people read themselves may exceed the share; open pages wait no longer than this for it. */
const MAX_DEBT_MS = 300;
/** Until one was measured. */
const USUAL_PAGE_MS = 20;
/** What the newest page adds to the average. */
const WEIGHT = 0.2;
/** Each group reads the database at the same time. */
const MAX_GROUPS = 20;

export interface Allowance {
  /** Once in each tick: what was spent is measured, and groups may be admitted again. */
  renew(): void;
  /** Whether a group of pages that share what is rendered may be notified now. */
  admits(group: string): boolean;
  spend(elapsedMs: number): void;
}

export function createAllowance(monotonicMs: () => number): Allowance {
  let leftMs = MAX_ALLOWANCE_MS;
  let renewedMs = monotonicMs();
  let usualMs = USUAL_PAGE_MS;
  let admitted = new Set<string>();
  let most = MAX_GROUPS;
  return {
    renew: (): void => {
      const nowMs = monotonicMs();
      leftMs = Math.min(MAX_ALLOWANCE_MS, leftMs + SHARE * (nowMs - renewedMs));
      renewedMs = nowMs;
      admitted = new Set();
      most = leftMs <= 0 ? 0 : Math.min(MAX_GROUPS, Math.ceil(leftMs / usualMs));
    },
    admits: (group: string): boolean => {
      if (admitted.size < most) admitted.add(group);
      return admitted.has(group);
    },
    spend: (elapsedMs: number): void => {
      leftMs = Math.max(-MAX_DEBT_MS, leftMs - elapsedMs);
      usualMs += WEIGHT * (elapsedMs - usualMs);
    },
  };
}

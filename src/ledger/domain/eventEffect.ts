/**
 * What an event did to the resource that it reports: the status before and after, and whether it was late.
 *
 * 1. Before: the state of the snapshots that were recorded before the event's own. After: the state with it.
 *    Snapshots that were recorded together count in the order of their inbox numbers.
 * 2. An event is late if a snapshot that ranks above its own (merge.ts) was recorded before: then the state
 *    does not come from it.
 */
import type { Evidence } from './explanation.ts';
import { foldSnapshots } from './merge.ts';

export interface EventEffect {
  /** Null if the resource was not known before. */
  readonly previousStatus: string | null;
  readonly status: string | null;
  readonly isLate: boolean;
}

/** @param evidence every snapshot of the resource; `own` among them, or not */
export function effectOf(own: Evidence, evidence: readonly Evidence[]): EventEffect {
  const earlier = evidence.filter((other) => isEarlier(other, own));
  const before = earlier.length === 0 ? undefined : foldSnapshots(earlier);
  const after = foldSnapshots([...earlier, own]);
  return {
    previousStatus: before?.status ?? null,
    status: after.status ?? null,
    isLate: after.headHash !== own.contentHash || after.epoch !== own.epoch,
  };
}

function isEarlier(other: Evidence, own: Evidence): boolean {
  if (other.recordedMicros !== own.recordedMicros) return other.recordedMicros < own.recordedMicros;
  return (other.inboxId ?? 0) < (own.inboxId ?? 0);
}

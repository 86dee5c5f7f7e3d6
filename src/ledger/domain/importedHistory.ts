/**
 * Distinguishes imported history from news. A list has changes that the service made before Tallyhook was
 * installed; nobody is notified of them.
 *
 * 1. A change that the service made after the installation is news even if a run reads it first: its webhook
 *    may be lost.
 * 2. A change to a state that the ledger already had is also news, regardless of its age: somebody may have been
 *    notified of that state.
 * 3. A person may import an earlier past at any time, after the first import, too. From then on, a change is
 *    history only if the nightly comparison no longer looks back to it as well, and if its time is known: a
 *    service with a wrong clock dates new changes before the installation.
 * 4. The times of changes are the service's. If its clock is behind, so much earlier ones are history only.
 * 5. An event, which no run reads, may be sent or applied long after the change. To alerts, rule 3 holds for it as well.
 */
import { DAY_MS } from '../../platform/time.ts';
import type { ResourceState } from './merge.ts';

/** What is history to a run. */
export interface History {
  /** What was changed before this time is, in milliseconds since 1970. */
  readonly untilMs: number;
  /** So is what the service gives no time of. */
  readonly includesUndated: boolean;
}

/** As far as the nightly comparison looks back. */
const RECENT_MS = 8 * DAY_MS;

/**
 * @param isImported whether the first import of the list has completed
 * @param skewMs the service's clock less ours
 */
export function historyOf({
  installedMs,
  isImported,
  nowMs,
  skewMs,
}: {
  readonly installedMs: number;
  readonly isImported: boolean;
  readonly nowMs: number;
  readonly skewMs: number;
}): History {
  const behindMs = Math.min(skewMs, 0);
  return isImported
    ? { untilMs: Math.min(installedMs, nowMs - RECENT_MS) + behindMs, includesUndated: false }
    : { untilMs: installedMs + behindMs, includesUndated: true };
}

/**
 * Whether the first known state of a resource is history.
 * @param previousStatus null if the ledger had no state of the resource
 * @param history undefined for what no run reads: all of it is news
 */
export function isImportedHistory(
  previousStatus: string | null,
  { versionMicros, createdMicros }: Pick<ResourceState, 'versionMicros' | 'createdMicros'>,
  history: History | undefined,
): boolean {
  if (history === undefined || previousStatus !== null) return false;
  const changedMicros = versionMicros ?? createdMicros;
  if (changedMicros === undefined) return history.includesUndated;
  return changedMicros < history.untilMs * 1000;
}

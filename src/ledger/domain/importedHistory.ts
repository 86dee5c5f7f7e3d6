/**
 * Distinguishes imported history from news. A first import reads changes that the service made before
 * Tallyhook was installed; nobody is notified of them.
 *
 * A change that the service made after installation is news even if the import reads it first: its
 * webhook may be lost. A change to a state that the ledger already had is also news, regardless of its
 * age: somebody may have been notified of that state.
 */
import type { ResourceState } from './merge.ts';

/**
 * Whether the first known state of a resource dates from before the installation.
 * @param previousStatus null if the ledger had no state of the resource
 * @param historyUntilMs during a first import, the time when Tallyhook was installed
 */
export function isImportedHistory(
  previousStatus: string | null,
  { versionMicros, createdMicros }: Pick<ResourceState, 'versionMicros' | 'createdMicros'>,
  historyUntilMs: number | undefined,
): boolean {
  if (historyUntilMs === undefined || previousStatus !== null) return false;
  const changedMicros = versionMicros ?? createdMicros;
  return changedMicros === undefined || changedMicros < historyUntilMs * 1000;
}

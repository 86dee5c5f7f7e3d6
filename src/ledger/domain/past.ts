/**
 * What a first import brings of the past: nobody had told of it, and nobody is told of what is past
 * in it. What the service changed after Tallyhook was there is news all the same, whoever brings it:
 * a webhook that was lost while the import went on must not fall silent. So is a change of a state
 * that was known, however old the service says the change is: somebody may have been told of that state.
 */
import type { ResourceState } from './merge.ts';

/**
 * Whether what is known of a resource tells of the past.
 * @param previousStatus null when no state of it was known
 * @param historyUntilMs set while a list is imported for the first time: when Tallyhook began
 */
export function tellsOfPast(
  previousStatus: string | null,
  { versionMicros, createdMicros }: Pick<ResourceState, 'versionMicros' | 'createdMicros'>,
  historyUntilMs: number | undefined,
): boolean {
  if (historyUntilMs === undefined || previousStatus !== null) return false;
  const changedMicros = versionMicros ?? createdMicros;
  return changedMicros === undefined || changedMicros < historyUntilMs * 1000;
}

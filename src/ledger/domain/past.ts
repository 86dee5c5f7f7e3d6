/**
 * What a first import brings of the past: nobody had told of it, and nobody is told of what is past
 * in it. What the service changed after Tallyhook was there is news all the same, whoever brings it:
 * a webhook that was lost while the import went on must not fall silent.
 */
import type { ResourceState } from './merge.ts';

/**
 * Whether what is known of a resource tells of the past.
 * @param historyUntilMs set while a list is imported for the first time: when Tallyhook began
 */
export function tellsOfPast(
  { versionMicros, createdMicros }: Pick<ResourceState, 'versionMicros' | 'createdMicros'>,
  historyUntilMs: number | undefined,
): boolean {
  if (historyUntilMs === undefined) return false;
  const changedMicros = versionMicros ?? createdMicros;
  return changedMicros === undefined || changedMicros < historyUntilMs * 1000;
}

/** When the stage of a dispute began, which its deadline is counted from where the service gives none. */
import { isFirstStage } from '../../contract/statuses.ts';
import { stageRank } from './ranks.ts';
import { changedMicros, type Snapshot } from './snapshot.ts';

interface Staged {
  readonly stage?: string | undefined;
  readonly createdMicros?: number | undefined;
}

/**
 * The stage begins with the earliest change that the last snapshots show that have it, in the order of their keys: a
 * body without a version is below the others, and may be later. If all have it and disputes begin with it, it began when
 * the dispute was created, where that is stated. Later bodies of the stage do not move it.
 * @param state the merged fields
 * @param ascending in the order of their keys
 * @returns microseconds since 1970; undefined if no body has a status
 */
export function stageSinceMicros(
  { stage, createdMicros }: Staged,
  ascending: readonly Snapshot[],
): number | undefined {
  const stated = ascending.filter(({ content }) => content.status !== undefined);
  const rank = stageRank('dispute', stage);
  const before = stated.findLastIndex(
    ({ content }) => stageRank('dispute', content.stage) !== rank,
  );
  if (before < 0 && isFirstStage(stage) && createdMicros !== undefined) return createdMicros;
  const own = stated.slice(before + 1);
  // None has it if a body without a status states the stage.
  const seen = (own.length > 0 ? own : stated.slice(-1)).map(changedMicros);
  return seen.length > 0 ? Math.min(...seen) : undefined;
}

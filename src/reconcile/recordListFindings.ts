/** Records, at the end of a run, what it showed about the list itself. */

import { readCreatedBounds } from '../ledger/read/store/comparison.ts';
import { selectOpenFindings } from '../ledger/read/store/openFindings.ts';
import { DAY_MS } from '../platform/time.ts';
import { closeComparison, openComparison } from './findings.ts';
import type { RunContext } from './runContext.ts';
import type { RunState } from './runState.ts';
import { KIND_OF } from './streams.ts';

/**
 * Findings about a list have no detail. The span that showed one is in the run; repeated here, each run
 * would change the finding and end its acceptance.
 */
export const LIST_DETAIL = {};

/**
 * Opens findings about the list, and closes those that no longer hold. A resumed run does not know what its
 * windows showed before (recordWindow.ts opened that), so it leaves `list_unstable` to the next run.
 * @throws ServiceUnusable
 */
export async function recordListFindings(run: RunContext, state: RunState): Promise<void> {
  const { db } = run.parts;
  if (run.row.isDryRun) return;
  const subject = `list:${run.stream}`;
  if (state.isUnstable) {
    await openComparison(db, [{ class: 'list_unstable', subject, detail: LIST_DETAIL }]);
  } else if (run.row.windows === 0) {
    await closeComparison(db, ['list_unstable'], [subject]);
  }
  const ignored = { class: 'filter_ignored', subject, detail: LIST_DETAIL } as const;
  if (state.isFilterIgnored) {
    await openComparison(db, [ignored]);
  } else if ((await selectOpenFindings(db, [ignored])).length > 0 && (await isFilterApplied(run))) {
    await closeComparison(db, [ignored.class], [subject]);
  }
}

/**
 * Whether the list leaves out what was created outside of a span, before it or after it. A run without
 * such rows proves nothing. So two instants are requested, one after everything in the ledger and one
 * before it: a list that ignores a bound shows known rows there.
 */
async function isFilterApplied({ parts, stream, reader }: RunContext): Promise<boolean> {
  const known = await readCreatedBounds(parts.db, KIND_OF[stream]);
  if (!known) return false;
  const instants = [known.firstMs - DAY_MS, Math.max(known.lastMs + DAY_MS, parts.clock.nowMs())];
  for (const atMs of instants) {
    if (await reader.showsOutside({ fromMs: atMs, toMs: atMs })) return false;
  }
  return true;
}

/** Findings about a list itself, at the end of a run over it. */
import { closeComparison, openComparison } from './findings.ts';
import { LIST_DETAIL } from './heal.ts';
import type { RunState, RunTools } from './listSpan.ts';
import { readCreatedBounds, readOpen } from './store/compare.ts';
import { KIND_OF } from './streams.ts';

/** Opens what the run has shown of the list, and closes what is over. @throws ServiceTrouble */
export async function settleList(tools: RunTools, state: RunState): Promise<void> {
  const { parts, stream, heal } = tools;
  if (heal.isDryRun) return;
  const subject = `list:${stream}`;
  const isUnstable =
    state.isUnstable || state.differences.some((one) => one.class === 'list_unstable');
  if (isUnstable) {
    await openComparison(parts.db, [{ class: 'list_unstable', subject, detail: LIST_DETAIL }]);
  } else {
    await closeComparison(parts.db, ['list_unstable'], [subject]);
  }
  const ignored = { class: 'filter_ignored', subject, detail: LIST_DETAIL } as const;
  if (state.isFilterIgnored) {
    await openComparison(parts.db, [ignored]);
  } else if ((await readOpen(parts.db, [ignored])).length > 0 && (await isFilterHeeded(tools))) {
    await closeComparison(parts.db, [ignored.class], [subject]);
  }
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Whether the list leaves out what lies outside of a span, on either side of it. A run shows that only
 * if anything lies there, so one that saw nothing of it proves nothing. Asked for one instant behind
 * everything that is known, and for one before it, a list that ignores a bound shows known rows.
 */
async function isFilterHeeded({ parts, stream, reader }: RunTools): Promise<boolean> {
  const known = await readCreatedBounds(parts.db, KIND_OF[stream]);
  if (!known) return false;
  const instants = [known.firstMs - DAY_MS, Math.max(known.lastMs + DAY_MS, parts.clock.nowMs())];
  for (const atMs of instants) {
    if (await reader.showsOutside({ fromMs: atMs, toMs: atMs })) return false;
  }
  return true;
}

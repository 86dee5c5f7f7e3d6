/** Records what a run showed about the list itself. */

import { readCreatedBounds } from '../ledger/read/store/comparison.ts';
import { selectOpenFindings } from '../ledger/read/store/openFindings.ts';
import { closeClasses, openFindings } from '../ledger/recordFindings.ts';
import { DAY_MS } from '../platform/time.ts';
import { type ListedReach, showsAgain } from './domain/spans.ts';
import type { Span } from './domain/windows.ts';
import { closeComparison, listSubject, openComparison } from './findings.ts';
import type { RunContext } from './runContext.ts';
import type { RunState } from './runState.ts';
import { addUnstable, clearUnstable, lockUnstable } from './store/streams.ts';
import { KIND_OF } from './streams.ts';

/**
 * Findings about a list have no detail. Where the list was unstable is stored beside it: in the detail, each
 * run would change the finding and end its acceptance.
 */
const LIST_DETAIL = {};

/** Opens the finding with the window that shows it, so that a run that is killed later does not lose it. */
export async function openUnstable(run: RunContext, window: Span): Promise<void> {
  const { parts, row, stream } = run;
  if (row.isDryRun) return;
  const { reachMs, toMs } = reachOf(run, window);
  const subject = listSubject(stream);
  const finding = { class: 'list_unstable', subject, detail: LIST_DETAIL } as const;
  await parts.db.transaction(async (tx) => {
    await addUnstable(tx, stream, { reachMs, toAt: new Date(toMs) });
    await openFindings(tx, [finding]);
  });
}

/**
 * Closes it after a span was listed without such a window, unless it was seen elsewhere. A resumed run does not
 * know what its windows showed before, so it leaves that to the next one.
 */
export async function closeUnstable(run: RunContext, listed: Span): Promise<void> {
  const { parts, row, stream } = run;
  if (row.isDryRun || row.windows > 0) return;
  await parts.db.transaction(async (tx) => {
    const seen = await lockUnstable(tx, stream);
    const unstable = seen && { reachMs: seen.reachMs, toMs: seen.toAt.getTime() };
    if (unstable && !showsAgain(reachOf(run, listed), unstable)) return;
    if (seen) await clearUnstable(tx, stream);
    await closeClasses(tx, ['list_unstable'], [listSubject(stream)]);
  });
}

function reachOf({ row }: RunContext, { fromMs, toMs }: Span): ListedReach {
  return { reachMs: row.startedAt.getTime() - fromMs, toMs };
}

/**
 * Opens or closes, at the end of a run, the finding that the list ignores its filter.
 * @throws ServiceUnusable
 */
export async function recordFilter(run: RunContext, state: RunState): Promise<void> {
  const { db } = run.parts;
  if (run.row.isDryRun) return;
  const subject = listSubject(run.stream);
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

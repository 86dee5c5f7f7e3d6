/**
 * Records a window: findings for what differs still, and the checkpoint.
 *
 * A finding opens for each difference that could not be repaired, rows with unreadable money included, and closes
 * when the row compares as equal, or has another finding. A row with a retrieve that names another merchant account is not missing
 * in the ledger: its finding names the account. What the service does not know has its finding from the
 * retrieve (retrieve.ts). The finding about an unstable list is in recordListFindings.ts.
 */

import type { Finding } from '../ledger/domain/findings.ts';
import { refKey } from '../ledger/domain/snapshot.ts';
import { selectAcceptedFindings } from '../ledger/read/store/openFindings.ts';
import { recordProfiles } from '../ledger/recordProfiles.ts';
import type { Database } from '../platform/db/database.ts';
import { refOf, type WindowComparison } from './compareWindow.ts';
import type { Remote } from './domain/compare.ts';
import type { Span } from './domain/windows.ts';
import { closeComparison, listSubject, openComparison } from './findings.ts';
import { type ListedWindow, NO_ID } from './listReader.ts';
import { openUnstable } from './recordListFindings.ts';
import { recordStep } from './recordStep.ts';
import type { RemainingRow, UnreadableResource, WindowRepair } from './repairWindow.ts';
import type { RunContext } from './runContext.ts';
import { afterWindow, type RunState } from './runState.ts';
import type { ReportedDifference } from './store/runs.ts';
import { KIND_OF } from './streams.ts';

export interface ReconciledWindow {
  /** The span that is listed; the window is a part of it. */
  readonly span: Span;
  readonly comparison: WindowComparison;
  readonly repair: WindowRepair;
}

/** Records what a window showed and what was repaired. @returns the run's state after it, as committed */
export async function recordWindow(
  run: RunContext,
  state: RunState,
  { span, comparison: { window }, repair }: ReconciledWindow,
): Promise<RunState> {
  const remaining = await recordRemaining(run, window, repair);
  if (!run.row.isDryRun) await recordProfilesOf(run, window);
  const isUnstable = window.isUnstable || repair.isIncomplete;
  if (isUnstable) await openUnstable(run, window.span);
  return await recordStep(run, afterWindow(state, { ...window, isUnstable }, span), {
    compared: window.rows.length,
    missed: repair.missed,
    differences: [
      ...repair.repaired,
      ...remaining,
      ...repair.missingRemotely.map((ref) => remainingDifference('missing_remote', refKey(ref))),
      ...(repair.isIncomplete
        ? [remainingDifference('list_unstable', listSubject(run.stream))]
        : []),
      ...unreadableWithoutFinding(window, repair).map((id) =>
        remainingDifference('amount', refKey({ kind: KIND_OF[run.stream], id })),
      ),
    ],
  });
}

/** Rows that name nothing, and those that are too many to be retrieved: then the list is at fault. */
function unreadableWithoutFinding(window: ListedWindow, repair: WindowRepair): readonly string[] {
  const retrieved = new Set(repair.unreadable.map(({ ref }) => ref.id));
  return window.unreadable.filter((id) => id === NO_ID || !retrieved.has(id));
}

async function recordProfilesOf({ parts }: RunContext, window: ListedWindow): Promise<void> {
  const objects = window.rows.map((row) => ({
    profileId: row.profileId,
    ref: refOf(row),
    source: 'list' as const,
  }));
  await parts.db.transaction((tx) => recordProfiles(tx, objects, parts.account));
}

function remainingDifference(name: string, subject: string): ReportedDifference {
  return { class: name, subject, outcome: 'remaining' };
}

const COMPARISON_CLASSES = ['missing_local', 'stale_local', 'foreign_merchant'] as const;

/** Opens findings for rows that differ still, and closes those of rows that are equal. */
async function recordRemaining(
  { parts: { db }, row: { isDryRun } }: RunContext,
  window: ListedWindow,
  { remaining, unreadable }: WindowRepair,
): Promise<readonly ReportedDifference[]> {
  const unread = unreadable.filter(({ isRead }) => !isRead).map(unreadableFinding);
  const findings = [...remaining.map(findingOf), ...unread];
  const accepted = new Set(
    findings.length > 0
      ? (await selectAcceptedFindings(db, findings)).map(({ subject }) => subject)
      : [],
  );
  if (!isDryRun) {
    if (findings.length > 0) await openComparison(db, findings);
    const read = unreadable.filter(({ isRead }) => isRead).map(({ ref }) => refKey(ref));
    const listed = window.rows.map(({ remote }) => refKey(remote));
    await closeOthers(db, [...listed, ...read], findings);
  }
  const named = remaining.map(({ row, difference, foreignMerchantId }) => ({
    class: foreignMerchantId === undefined ? difference : 'foreign_merchant',
    subject: refKey(row.remote),
  }));
  return [...named, ...unread].map(({ class: name, subject }) => {
    const outcome = accepted.has(subject) ? 'accepted' : 'remaining';
    return { class: name, subject, outcome };
  });
}

type ComparisonFinding = Finding<(typeof COMPARISON_CLASSES)[number]>;

/** Contradictions in status and money are findings of the merge itself; here the ledger is merely stale. */
function findingOf({ row, difference, foreignMerchantId }: RemainingRow): ComparisonFinding {
  const subject = refKey(row.remote);
  if (foreignMerchantId !== undefined) {
    const detail = { merchantId: foreignMerchantId, namedIn: 'response' };
    return { class: 'foreign_merchant', subject, detail };
  }
  const name = difference === 'missing_local' ? 'missing_local' : 'stale_local';
  return { class: name, subject, detail: { difference, ...detailOf(row.remote) } };
}

function unreadableFinding({ ref, isKnown }: UnreadableResource): ComparisonFinding {
  const name = isKnown ? 'stale_local' : 'missing_local';
  return { class: name, subject: refKey(ref), detail: { difference: 'unreadable' } };
}

/** Closes the findings of compared rows that are equal, and those that another class replaces. */
async function closeOthers(
  db: Database,
  compared: readonly string[],
  open: readonly ComparisonFinding[],
): Promise<void> {
  const openSubjects = new Set(open.map(({ subject }) => subject));
  const equal = compared.filter((subject) => !openSubjects.has(subject));
  if (equal.length > 0) await closeComparison(db, COMPARISON_CLASSES, equal);
  if (open.length === 0) return;
  for (const name of COMPARISON_CLASSES) {
    const replaced = open.filter((finding) => finding.class !== name);
    if (replaced.length === 0) continue;
    await closeComparison(
      db,
      [name],
      replaced.map(({ subject }) => subject),
    );
  }
}

function detailOf({
  status,
  stage,
  amountMinor,
  capturedMinor,
  currency,
  paymentId,
  orderKey,
}: Remote): Record<string, unknown> {
  return {
    service: {
      status,
      stage,
      amount: amountMinor,
      amount_captured: capturedMinor,
      currency,
      payment_id: paymentId,
      order_key: orderKey,
    },
  };
}

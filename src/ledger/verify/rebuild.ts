/**
 * `verify --rebuild`: makes the ledger again beside the live one and compares. The inbox was walked
 * already, and what its events say was kept (`keepObservations`); see docs/decisions/0036-rebuild.md.
 *
 * 1. Every resource is folded again and compared with its row, its findings and its journal, at one
 *    moment for each chunk.
 * 2. Orders and their findings are derived from the resources made again, and compared. One that differs is looked at
 *    once more, with its parts folded anew at that same moment: a worker may have changed it since.
 */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { balanceProblems, balancesOf, expectedBalances } from '../domain/checkJournal.ts';
import { findingProblems } from '../domain/checkResource.ts';
import { columnProblems } from '../domain/checks.ts';
import { STATE_FINDING_CLASSES } from '../domain/findings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { refKey } from '../lockPlan.ts';
import {
  analyzeRebuilt,
  indexObservations,
  insertObservations,
  insertRebuilt,
  type KeptObservation,
  readRebuiltRefs,
} from '../store/rebuild.ts';
import {
  readOpenFindings,
  readStoredResources,
  readTransfers,
  type StoredResource,
  type StoredTransfer,
} from '../store/verifyResources.ts';
import { expectedColumns, shownFindings } from './expected.ts';
import type { ReadEvent } from './inbox.ts';
import { compareOrders } from './rebuildOrders.ts';
import { type Refolded, refold, toRebuiltPart } from './refold.ts';
import { type Run, walk } from './walk.ts';

/** Keeps what applied events say, for the rebuild. */
export async function keepObservations(
  tx: Queryable,
  applied: readonly ReadEvent[],
): Promise<void> {
  const observations = applied.flatMap(({ event, reading }): readonly KeptObservation[] => {
    const mention = (ref: ResourceRef): KeptObservation => ({
      ref,
      webhookEventId: event.id,
      content: undefined,
      observedMicros: undefined,
    });
    if (reading.outcome === 'unreadable_money' || reading.outcome === 'label_conflict') {
      return [mention(reading.ref)];
    }
    if (reading.outcome !== 'snapshot') return [];
    const { ref, content, observedMicros } = reading;
    const { paymentId } = content;
    const parents = paymentId === undefined ? [] : [mention({ kind: 'payment', id: paymentId })];
    return [{ ref, webhookEventId: event.id, content, observedMicros }, ...parents];
  });
  if (observations.length > 0) await insertObservations(tx, observations);
}

/** Compares the live ledger with one that is made again from what was kept. */
export async function compareWithRebuilt(run: Run): Promise<void> {
  await indexObservations(run.db);
  await walk<ResourceRef>(run, 'rebuilding', async (tx, after) => {
    const refs = await readRebuiltRefs(tx, { after, limit: run.chunkSize });
    if (refs.length > 0) await compareResources(run, tx, refs);
    return { last: refs.at(-1), count: refs.length };
  });
  await analyzeRebuilt(run.db);
  await compareOrders(run);
}

async function compareResources(
  run: Run,
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<void> {
  const refolded = await refold(tx, refs, run.merchantId);
  const rows = new Map((await readStoredResources(tx, refs)).map((row) => [refKey(row), row]));
  const transfers = groupBy(await readTransfers(tx, refs), ({ ref }) => refKey(ref));
  const open = await readOpenFindings(tx, refs.map(refKey));
  const findings = groupBy(open, ({ subject }) => subject);
  const made: Refolded[] = [];
  for (const one of refolded) {
    const key = refKey(one.ref);
    const row = rows.get(key);
    // Stored snapshots that nothing brought make no resource; the check of resources names them.
    if (!row && !one.state && !one.isMentioned) continue;
    made.push(one);
    compareResource(run, one, row);
    compareBalances(run, one, transfers.get(key) ?? []);
    const classes = (findings.get(key) ?? []).map((finding) => finding.class);
    if (row) compareFindings(run, one, { row, open: classes });
  }
  if (made.length > 0) await insertRebuilt(tx, made.map(toRebuiltPart));
}

function compareResource(
  { tally }: Run,
  { ref, subject, state }: Refolded,
  row: StoredResource | undefined,
): void {
  const problems = row
    ? columnProblems(expectedColumns(ref, state), { ...row })
    : ['it is not in the ledger'];
  tally.looked('rebuilt_resources', 1);
  tally.judge('rebuilt_resources', subject, problems);
}

function compareFindings(
  { tally }: Run,
  { subject, state }: Refolded,
  { row, open }: { readonly row: StoredResource; readonly open: readonly string[] },
): void {
  const shown = shownFindings(row, state);
  tally.looked('rebuilt_findings', 1);
  tally.judge(
    'rebuilt_findings',
    subject,
    findingProblems({ following: STATE_FINDING_CLASSES, shown, noted: shown, open }),
  );
}

/** While a state does not say enough to post, what was posted stays: there is nothing to compare. */
function compareBalances(
  { tally }: Run,
  { subject, state }: Refolded,
  transfers: readonly StoredTransfer[],
): void {
  tally.looked('rebuilt_balances', 1);
  if (state && (!state.posts || state.currency === undefined)) return;
  const asked = state ? expectedBalances({ ...state, currency: state.currency ?? '' }) : new Map();
  tally.judge('rebuilt_balances', subject, balanceProblems(asked, balancesOf(transfers)));
}

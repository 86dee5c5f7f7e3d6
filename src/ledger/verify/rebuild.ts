/**
 * `verify --rebuild`: rebuilds the ledger beside the live one and compares them. The check of the inbox
 * has kept the observations of its events (`keepObservations`); see docs/decisions/0036-rebuild.md.
 *
 * 1. Every resource is folded again and compared with its row, its findings and its journal. Each chunk
 *    is read in one snapshot.
 * 2. Orders and their findings are derived from the rebuilt resources and compared. An order that
 *    differs is checked a second time with its parts folded again in one snapshot, because a worker may
 *    have changed it meanwhile.
 */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { balanceProblems, balancesOf, expectedBalances } from '../domain/checkJournal.ts';
import { findingProblems } from '../domain/checkResource.ts';
import { columnProblems } from '../domain/checks.ts';
import { STATE_FINDING_CLASSES } from '../domain/findings.ts';
import { type ResourceRef, refKey } from '../domain/snapshot.ts';
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

/** Keeps the observations of applied events for the rebuild. */
export async function keepObservations(
  tx: Queryable,
  applied: readonly ReadEvent[],
): Promise<void> {
  const observations = applied.flatMap(
    ({ event, reading, earlier }): readonly KeptObservation[] => {
      const mention = (ref: ResourceRef): KeptObservation => ({
        ref,
        webhookEventId: event.id,
        content: undefined,
        earlier: [],
        observedMicros: undefined,
      });
      if (reading.outcome === 'unreadable_money' || reading.outcome === 'label_conflict') {
        return [mention(reading.ref)];
      }
      if (reading.outcome !== 'snapshot') return [];
      const { ref, content, observedMicros } = reading;
      const { paymentId } = content;
      const parents = paymentId === undefined ? [] : [mention({ kind: 'payment', id: paymentId })];
      const observation = {
        ref,
        webhookEventId: event.id,
        content,
        earlier,
        observedMicros,
      };
      return [observation, ...parents];
    },
  );
  if (observations.length > 0) await insertObservations(tx, observations);
}

/** Compares the live ledger with one rebuilt from the kept observations. */
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
    // Snapshots without an observation make no resource; the check of resources reports them.
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
  tally.addChecked('rebuilt_resources', 1);
  tally.report('rebuilt_resources', subject, problems);
}

function compareFindings(
  { tally }: Run,
  { subject, state }: Refolded,
  { row, open }: { readonly row: StoredResource; readonly open: readonly string[] },
): void {
  const shown = shownFindings(row, state);
  tally.addChecked('rebuilt_findings', 1);
  tally.report(
    'rebuilt_findings',
    subject,
    findingProblems({ following: STATE_FINDING_CLASSES, shown, noted: shown, open }),
  );
}

/** A state that is not complete enough to post has nothing to compare. */
function compareBalances(
  { tally }: Run,
  { subject, state }: Refolded,
  transfers: readonly StoredTransfer[],
): void {
  tally.addChecked('rebuilt_balances', 1);
  if (state && (!state.posts || state.currency === undefined)) return;
  const expected = state
    ? expectedBalances({ ...state, currency: state.currency ?? '' })
    : new Map();
  tally.report('rebuilt_balances', subject, balanceProblems(expected, balancesOf(transfers)));
}

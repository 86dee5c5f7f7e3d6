/** Checks resources, their snapshots and their journal. */
import { groupBy } from '../../platform/collections.ts';
import { counted } from '../../platform/counted.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { contentHash } from '../contentHash.ts';
import {
  chainProblems,
  effectiveProblems,
  legEnds,
  openAuthorizationProblems,
  type PostingState,
  postedProblems,
} from '../domain/checkJournal.ts';
import { childProblem, findingProblems, termProblems } from '../domain/checkResource.ts';
import { columnProblems } from '../domain/checks.ts';
import { movementsOf, orderSnapshots } from '../domain/effectiveTimes.ts';
import { placeInEpochs } from '../domain/epochs.ts';
import { STATE_FINDING_CLASSES } from '../domain/findings.ts';
import { foldSnapshots, type ResourceState } from '../domain/merge.ts';
import { inHashOrder, type ResourceRef, refKey, type Snapshot } from '../domain/snapshot.ts';
import { type ResourceEpoch, readEpochs } from '../store/snapshots.ts';
import {
  readOpenFindings,
  readRefs,
  readStoredResources,
  readStoredSnapshots,
  readTransfers,
  type StoredResource,
  type StoredSnapshot,
  type StoredTransfer,
} from '../store/verifyResources.ts';
import { expectedColumns, shownFindings } from './expected.ts';
import { subjectOf } from './tally.ts';
import { type Bounds, type Run, walk } from './walk.ts';

export async function checkResources(run: Run, bounds: Bounds<ResourceRef> = {}): Promise<void> {
  const { until } = bounds;
  await walk<ResourceRef>(
    run,
    'resources',
    async (tx, after) => {
      const refs = await readRefs(tx, { after, until, limit: run.chunkSize });
      await checkRefs(run, tx, refs);
      return { last: refs.at(-1), count: refs.length };
    },
    bounds.after,
  );
}

/** Checks named resources in the snapshot of `tx`. */
export async function checkRefs(
  run: Run,
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<void> {
  for (const entry of await readEntries(tx, refs)) checkEntry(run, entry);
}

/** Everything that is stored about one resource. */
interface Entry {
  readonly ref: ResourceRef;
  readonly row: StoredResource | undefined;
  readonly snapshots: readonly StoredSnapshot[];
  readonly epochs: readonly ResourceEpoch[];
  readonly transfers: readonly StoredTransfer[];
  readonly openFindings: readonly string[];
}

async function readEntries(tx: Queryable, refs: readonly ResourceRef[]): Promise<readonly Entry[]> {
  if (refs.length === 0) return [];
  const rows = new Map((await readStoredResources(tx, refs)).map((row) => [refKey(row), row]));
  const byRef = ({ ref }: { readonly ref: ResourceRef }) => refKey(ref);
  const snapshots = groupBy(await readStoredSnapshots(tx, refs), byRef);
  const epochs = groupBy(await readEpochs(tx, refs), byRef);
  const transfers = groupBy(await readTransfers(tx, refs), byRef);
  const open = await readOpenFindings(tx, refs.map(refKey));
  const findings = groupBy(open, ({ subject }) => subject);
  return refs.map((ref) => {
    const key = refKey(ref);
    return {
      ref,
      row: rows.get(key),
      snapshots: snapshots.get(key) ?? [],
      epochs: epochs.get(key) ?? [],
      transfers: transfers.get(key) ?? [],
      openFindings: (findings.get(key) ?? []).map((finding) => finding.class),
    };
  });
}

function checkEntry({ tally }: Run, entry: Entry): void {
  const { ref, row, snapshots, transfers } = entry;
  const subject = subjectOf(ref, snapshots);
  const altered = snapshots.filter(
    ({ content, contentHash: hash, redactedHash }) =>
      contentHash(inHashOrder(content)) !== (redactedHash ?? hash),
  );
  tally.addChecked('snapshots', snapshots.length);
  tally.report(
    'snapshots',
    subject,
    altered.map(({ contentHash: hash }) => `snapshot ${hash.slice(0, 12)} does not match its hash`),
  );
  const broken = chainProblems(ref.kind, transfers);
  tally.addChecked('chain', transfers.length);
  tally.report('chain', subject, broken);
  tally.addChecked('resources', 1);
  tally.addChecked('posted', 1);
  if (row) {
    const isPosted = checkRow({ tally }, row, entry);
    // A damaged layer below would be reported a second time here.
    if (isPosted && altered.length + broken.length === 0) checkTimes({ tally }, entry);
    return;
  }
  tally.report('resources', subject, [`${counted(snapshots.length, 'snapshot')}, but no row`]);
  const orphans =
    transfers.length > 0 ? [`${counted(transfers.length, 'transfer')}, but no row`] : [];
  tally.report('posted', subject, orphans);
}

/** @returns whether the row follows from the snapshots, and the journal from the row */
function checkRow({ tally }: Pick<Run, 'tally'>, row: StoredResource, entry: Entry): boolean {
  const { ref, snapshots, epochs, transfers } = entry;
  const subject = subjectOf(ref, snapshots);
  const state = fold(snapshots, epochs);
  const columns = [
    ...columnProblems(expectedColumns(row, state), { ...row }),
    ...termProblems(state?.termSinceMicros, row),
  ];
  tally.report('resources', subject, columns);

  if (ref.kind === 'refund' || ref.kind === 'dispute') {
    const child = {
      ...ref,
      paymentId: row.payment_id,
      orderKey: row.order_key,
      parentOrderKey: row.hasParent ? row.parentOrderKey : undefined,
    };
    const problem = childProblem(child);
    tally.addChecked('children', 1);
    tally.report('children', subject, problem === undefined ? [] : [problem]);
  }

  const shown = shownFindings(row, state);
  tally.addChecked('findings', 1);
  tally.report(
    'findings',
    subject,
    findingProblems({
      following: STATE_FINDING_CLASSES,
      shown,
      noted: row.open_findings,
      open: entry.openFindings,
    }),
  );

  const [posting, ends] = [postingState(row), legEnds(transfers)];
  const unposted = postedProblems(posting, ends);
  tally.report('posted', subject, unposted);
  if (ref.kind === 'payment') {
    tally.addChecked('authorizations', 1);
    tally.report('authorizations', subject, openAuthorizationProblems(posting, ends));
  }
  return columns.length + unposted.length === 0;
}

function checkTimes(
  { tally }: Pick<Run, 'tally'>,
  { ref, snapshots, epochs, transfers }: Entry,
): void {
  const { ascending } = orderSnapshots(placeInEpochs(snapshots, epochs), () => true);
  tally.addChecked('effective', 1);
  tally.report(
    'effective',
    subjectOf(ref, snapshots),
    effectiveProblems(movementsOf(ascending), transfers),
  );
}

function fold(
  snapshots: readonly Snapshot[],
  epochs: readonly ResourceEpoch[],
): ResourceState | undefined {
  return snapshots.length === 0 ? undefined : foldSnapshots(placeInEpochs(snapshots, epochs));
}

/** The fields of a row that the journal depends on. The check `resources` checks the row itself. */
function postingState(row: StoredResource): PostingState {
  return {
    ref: { kind: row.kind, id: row.id },
    ...(row.status !== null && { status: row.status }),
    ...(row.stage !== null && { stage: row.stage }),
    ...(row.amount_minor !== null && { amountMinor: Number(row.amount_minor) }),
    authorizedMinor: Number(row.authorized_minor),
    capturedMinor: Number(row.captured_minor),
    currency: row.currency ?? undefined,
    posts: row.posts,
    posted: row.posted,
  };
}

/**
 * Repairs what differs in one window.
 *
 * 1. A difference is repaired by retrieving the resource, and by nothing else, while there are few of
 *    them.
 * 2. In a window with many (a first import, the time after an outage) the full rows are applied as what
 *    they are, observations by a list: retrieving each would take days. What is not final among them is
 *    retrieved later anyway (domain/checkTimes.ts).
 *    A response that is older than the row repairs nothing: it comes from a replica that lags. The retrieve is
 *    repeated (domain/behind.ts).
 * 3. What differs after that remains. It becomes a finding (recordWindow.ts), which closes when a later
 *    comparison is equal.
 * 4. A dry run sends the same requests and rolls back what it would write. It takes rows that would be
 *    applied as they are (rule 2) for repaired.
 * 5. A row with unreadable money is retrieved like a difference: the response may be readable. Many of them show
 *    that the list is at fault, and none is retrieved.
 * 6. Missed webhooks are counted as soon as the differences are repaired: a run that is killed or fails
 *    after that finds the window equal when it is resumed. What waited in the inbox before the repairs may have
 *    reported a change; its webhook is awaited.
 */
import { applySnapshots } from '../ledger/applySnapshots.ts';
import { type Observation, type ResourceRef, refKey } from '../ledger/domain/snapshot.ts';
import { readPendingAgeMs } from '../ledger/inbox/store/arrivals.ts';
import { retryWithMoreLocks } from '../ledger/lockSetChanged.ts';
import { readLocalByIds } from '../ledger/read/store/comparison.ts';
import { markBehind } from '../ledger/store/resources.ts';
import { inChunks } from '../platform/collections.ts';
import {
  compareRows,
  type DifferingRow,
  MAX_UNLISTED,
  observationOf,
  refOf,
  type WindowComparison,
} from './compareWindow.ts';
import {
  ageOfChangeMs,
  isClockSet,
  isMoneyChanged,
  judgeRepaired,
  type Remote,
} from './domain/compare.ts';
import { isInexact } from './inexactMoney.ts';
import { NO_ID } from './listReader.ts';
import type { RunContext } from './runContext.ts';
import { awaitWebhooks } from './store/awaited.ts';
import type { ReportedDifference } from './store/runs.ts';
import { KIND_OF } from './streams.ts';

/** What became of the differences of a window. */
export interface WindowRepair {
  /** Repaired, or what a dry run would repair. */
  readonly repaired: readonly ReportedDifference[];
  /** Rows that differ still. */
  readonly remaining: readonly RemainingRow[];
  /** Resources with unreadable rows (rule 5), by what became of their retrieves. */
  readonly unreadable: readonly UnreadableResource[];
  /** Changes that no webhook reported in time. */
  readonly missed: number;
  /** Resources that the ledger has and the service does not. */
  readonly missingRemotely: readonly ResourceRef[];
  /** The list leaves out more than single resources, or has more than single unreadable rows. */
  readonly isIncomplete: boolean;
}

/** A resource with an unreadable row. */
export interface UnreadableResource {
  readonly ref: ResourceRef;
  /** A retrieve was readable, and the ledger has what it showed. */
  readonly isRead: boolean;
  /** The ledger has a state of it. */
  readonly isKnown: boolean;
}

/** A row that differs still. */
export interface RemainingRow extends DifferingRow {
  /** The other merchant account that its retrieve names; null if that is no id. */
  readonly foreignMerchantId?: string | null;
}

/** Differences of one window beyond which its rows are applied as they are (rule 2). */
const FEW = 10;

/** Repairs one window. @throws ServiceUnusable */
export async function repairWindow(
  run: RunContext,
  { window, differing, supplements, unsettled, unlisted }: WindowComparison,
): Promise<WindowRepair> {
  const pendingAgeMs = await readPendingAgeMs(run.parts.db);
  if (!run.row.isDryRun) await applyObservations(run, supplements);
  const rest = differing.length > FEW ? await applyRows(run, differing) : differing;
  const open = new Set(rest.map(({ row }) => row.remote.id));
  const applied = differing.filter(({ row }) => !open.has(row.remote.id));
  const repaired = applied.map((row) => reportRepaired(run, row));
  const changes = applied.map(({ row }): RepairedChange => {
    const { remote, observedMicros } = row;
    return { ref: refOf(row), versionMicros: remote.versionMicros, observedMicros };
  });
  const remaining: RemainingRow[] = [];
  for (const one of rest) {
    const { found, foreignMerchantId } = await retrieveDiffering(run, one.row.remote);
    if (found) {
      repaired.push(reportRepaired(run, one));
      changes.push({ ref: refOf(one.row), ...found });
    } else {
      remaining.push(foreignMerchantId === undefined ? one : { ...one, foreignMerchantId });
    }
  }
  const named = window.unreadable.filter((id) => id !== NO_ID);
  const areManyUnreadable = named.length > MAX_UNREADABLE;
  const read = await retrieveUnreadable(run, areManyUnreadable ? [] : named);
  repaired.push(...read.repaired);
  const missed = await countMissed(run, [...changes, ...read.changes], pendingAgeMs);
  repaired.push(...(await retrieveUnsettled(run, unsettled)));
  const areManyUnlisted = unlisted.length > MAX_UNLISTED;
  const missingRemotely = areManyUnlisted ? [] : await retrieveUnlisted(run, unlisted);
  const isIncomplete = areManyUnlisted || areManyUnreadable;
  const { resources: unreadable } = read;
  return { repaired, remaining, unreadable, missed, missingRemotely, isIncomplete };
}

/** Unreadable rows of one window that are retrieved (rule 5). */
const MAX_UNREADABLE = 20;

interface ReadResources {
  readonly resources: readonly UnreadableResource[];
  readonly repaired: readonly ReportedDifference[];
  readonly changes: readonly RepairedChange[];
}

/** Retrieves what the list shows with unreadable money. @throws ServiceUnusable */
async function retrieveUnreadable(run: RunContext, ids: readonly string[]): Promise<ReadResources> {
  const kind = KIND_OF[run.stream];
  const local = ids.length === 0 ? [] : await readLocalByIds(run.parts.db, kind, ids);
  const known = new Set(local.flatMap(({ id, status }) => (status === null ? [] : [id])));
  const resources: UnreadableResource[] = [];
  const repaired: ReportedDifference[] = [];
  const changes: RepairedChange[] = [];
  for (const id of ids) {
    const [ref, isKnown] = [{ kind, id }, known.has(id)];
    const retrieved = await run.requester.retrieve(ref);
    const isRead = retrieved.outcome === 'applied' && !retrieved.after.isContradicted;
    resources.push({ ref, isRead, isKnown });
    if (!isRead || !isMoneyChanged(retrieved.before, retrieved.after)) continue;
    const { after, observedMicros } = retrieved;
    const name = isKnown ? 'stale_local' : 'missing_local';
    repaired.push({ class: name, subject: refKey(ref), outcome: repairedBy(run) });
    changes.push({ ref, versionMicros: after.versionMicros ?? undefined, observedMicros });
  }
  return { resources, repaired, changes };
}

/** A page of a list. */
const ROWS_PER_TRANSACTION = 100;

/** Applies full rows as observations by a list (rule 2). @returns what differs still */
async function applyRows(
  run: RunContext,
  differing: readonly DifferingRow[],
): Promise<readonly DifferingRow[]> {
  if (run.row.isDryRun) return differing.filter(({ row }) => row.isHint);
  const full = differing.filter(({ row }) => !row.isHint);
  if (full.length === 0) return differing;
  await applyObservations(
    run,
    full.map(({ row }) => observationOf(row, row.content)),
  );
  const rows = differing.map(({ row }) => row);
  return (await compareRows(run, rows)).differing;
}

async function applyObservations(
  run: RunContext,
  observations: readonly Observation[],
): Promise<void> {
  for (const batch of inChunks(observations, ROWS_PER_TRANSACTION)) {
    if (await isApplied(run, batch)) continue;
    for (const one of batch) await isApplied(run, [one]);
  }
}

/** False for money that cannot be added up: nothing of the batch is applied, and it stays a difference. */
async function isApplied(
  { parts: { db, clock }, history }: RunContext,
  batch: readonly Observation[],
): Promise<boolean> {
  const input = { observations: batch, toRetrieve: [], nowMs: clock.nowMs(), history };
  try {
    await retryWithMoreLocks((alsoLock) =>
      db.transaction((tx) => applySnapshots(tx, { ...input, alsoLock })),
    );
    return true;
  } catch (error) {
    if (isInexact(error)) return false;
    throw error;
  }
}

/**
 * Retrieves resources that list rows cannot settle (compareWindow.ts).
 * @returns those that the retrieves changed
 * @throws ServiceUnusable
 */
export async function retrieveUnsettled(
  run: RunContext,
  refs: readonly ResourceRef[],
): Promise<readonly ReportedDifference[]> {
  const results: ReportedDifference[] = [];
  for (const ref of refs) {
    const retrieved = await run.requester.retrieve(ref);
    if (retrieved.outcome !== 'applied') continue;
    if (!isMoneyChanged(retrieved.before, retrieved.after)) continue;
    results.push({ class: 'stale_local', subject: refKey(ref), outcome: repairedBy(run) });
  }
  return results;
}

interface RetrievedDifference extends Pick<RemainingRow, 'foreignMerchantId'> {
  /** Undefined where it cannot be repaired; else its version by the response, which short rows lack. */
  readonly found?: Omit<RepairedChange, 'ref'>;
}

/** @throws ServiceUnusable */
async function retrieveDiffering(
  run: RunContext,
  { kind, id, versionMicros: listedMicros }: Remote,
): Promise<RetrievedDifference> {
  const retrieved = await run.requester.retrieve({ kind, id });
  if (retrieved.outcome === 'failed') {
    const { foreignMerchantId } = retrieved;
    return foreignMerchantId === undefined ? {} : { foreignMerchantId };
  }
  if (retrieved.outcome !== 'applied' || retrieved.after.isContradicted) return {};
  const { after, observedMicros } = retrieved;
  if (isOlder(after.versionMicros, listedMicros)) {
    if (!run.row.isDryRun) {
      await markBehind(run.parts.db, [{ kind, id, versionMicros: listedMicros }]);
    }
    return {};
  }
  return { found: { versionMicros: after.versionMicros ?? undefined, observedMicros } };
}

/** Where one of both has no version, the response counts. */
function isOlder(afterMicros: number | null, listedMicros: number | undefined): boolean {
  return afterMicros !== null && listedMicros !== undefined && afterMicros < listedMicros;
}

/**
 * Retrieves what the ledger has and the list does not show. The service may know it all the same: a
 * replica lags, or a filter hides it.
 * @returns what the service does not know
 * @throws ServiceUnusable
 */
async function retrieveUnlisted(
  { requester, stream }: RunContext,
  ids: readonly string[],
): Promise<readonly ResourceRef[]> {
  const missing: ResourceRef[] = [];
  for (const id of ids) {
    const ref = { kind: KIND_OF[stream], id };
    const { outcome } = await requester.retrieve(ref);
    if (outcome === 'missing') missing.push(ref);
  }
  return missing;
}

function reportRepaired(run: RunContext, { row, difference }: DifferingRow): ReportedDifference {
  return { class: difference, subject: refKey(row.remote), outcome: repairedBy(run) };
}

function repairedBy({ row }: RunContext): 'repaired' | 'would_repair' {
  return row.isDryRun ? 'would_repair' : 'repaired';
}

/** A repaired change. Without a version, it is not known when the change was made. */
interface RepairedChange {
  readonly ref: ResourceRef;
  readonly versionMicros: number | undefined;
  /** The service's time of the response that showed it, microseconds since 1970. */
  readonly observedMicros: number;
}

/** Counts changes so old that their webhook is lost, and records those that await one. */
async function countMissed(
  run: RunContext,
  changes: readonly RepairedChange[],
  pendingAgeMs: number | undefined,
): Promise<number> {
  if (run.isFirstImport || run.row.isDryRun) return 0;
  const { stream, isManual, earlierSkewMs, history } = run;
  const { db, metrics, clock } = run.parts;
  const nowMs = clock.nowMs();
  let missed = 0;
  const awaited: { readonly ref: ResourceRef; readonly changedAt: Date }[] = [];
  for (const { ref, versionMicros, observedMicros } of changes) {
    // Of what was changed before the installation, no webhook was sent here.
    if (versionMicros === undefined || versionMicros < history.untilMs * 1000) continue;
    const isAgeKnown = !isClockSet(observedMicros / 1000 - nowMs, earlierSkewMs);
    const ageMs = isAgeKnown ? ageOfChangeMs(versionMicros, observedMicros) : 0;
    const { isMissed, isAwaited } = judgeRepaired(ageMs, { isManual, pendingAgeMs });
    if (isAwaited) awaited.push({ ref, changedAt: new Date(nowMs - ageMs) });
    if (!isMissed) continue;
    missed += 1;
    metrics.missed(stream);
    metrics.secondsToConverge(ageMs / 1000);
  }
  if (awaited.length > 0) await awaitWebhooks(db, stream, awaited);
  return missed;
}

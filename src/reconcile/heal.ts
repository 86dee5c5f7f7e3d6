/**
 * Compares what a window showed with the ledger, and heals.
 *
 * 1. A difference is healed by a retrieve, and by nothing else, while there are few of them.
 * 2. Where a window holds many (a first import, the time after an outage), its full rows are applied
 *    as what they are, looks at a list: one request for each would take days. Whatever is not final
 *    among them is retrieved by the ladder anyway.
 * 3. What differs after that is left and becomes a finding. It closes by itself when a later
 *    comparison is equal.
 * 4. A dry run asks the same questions, and what it would do is rolled back. Rows that would be applied
 *    as they are (rule 2) it takes for healed.
 * 5. A row of few fields can be equal and settle nothing: where the ledger waits for the service's answer
 *    about that very resource, or the row hides what can change without another status, it is retrieved
 *    by the run that meets it. What such a row has and the ledger lacks (when the resource was created)
 *    is added; it moves no money.
 */
import { applySnapshots } from '../ledger/applySnapshots.ts';
import { contentHash } from '../ledger/contentHash.ts';
import type { Look } from '../ledger/domain/mergeLooks.ts';
import { type ResourceRef, type SnapshotContent, supplementOf } from '../ledger/domain/snapshot.ts';
import { startOver } from '../ledger/ordersMoved.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import {
  compare,
  type Difference,
  hidesChange,
  judgeHealed,
  type Remote,
} from './domain/compare.ts';
import type { Span } from './domain/windows.ts';
import { closeComparison, openComparison } from './findings.ts';
import type { ReconcileMetrics } from './metrics.ts';
import type { ListedRow, ReadWindow } from './readList.ts';
import type { Retrieved } from './retrieve.ts';
import { awaitWebhooks } from './store/awaited.ts';
import { type LocalRow, readAccepted, readIdsCreated, readLocalByIds } from './store/compare.ts';
import type { ReportedDifference } from './store/runs.ts';
import { KIND_OF, type Stream } from './streams.ts';

/** What comparing one window came to. */
export interface WindowResult {
  readonly compared: number;
  readonly differences: readonly ReportedDifference[];
  readonly missed: number;
}

export interface HealParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly metrics: ReconcileMetrics;
  /** Retrieves in the run's lane, counted. @throws ServiceTrouble for what concerns every request */
  readonly retrieve: (ref: { kind: Remote['kind']; id: string }) => Promise<Retrieved>;
  readonly isDryRun: boolean;
  /** A person asked for it, in a process whose metrics nobody reads. */
  readonly isByHand: boolean;
  /**
   * As in applySnapshots: set while a list is imported for the first time. Nobody had told of what it
   * finds, so nothing counts as missed.
   */
  readonly historyUntilMs: number | undefined;
}

/** Differences of one window beyond which its rows are applied as they are (rule 2). */
const FEW = 10;
/** Local rows of one window that the list lacks and that are asked for; more show that the list is at fault. */
const MAX_LACKING = 20;
const LOCAL_ROWS = 1_000;

export const COMPARISON_CLASSES = ['missing_local', 'stale_local'] as const;

interface Found {
  readonly row: ListedRow;
  readonly difference: Difference;
}

/** Compares and heals one window. @throws ServiceTrouble */
export async function healWindow(
  parts: HealParts,
  stream: Stream,
  window: ReadWindow,
): Promise<WindowResult> {
  const { found, lacking, unsettled } = await judgeRows(parts, stream, window.rows);
  if (!parts.isDryRun) await applyLooks(parts, lacking);
  const rest = found.length > FEW ? await applyRows(parts, stream, found) : found;
  const open = new Set(rest.map(({ row }) => row.remote.id));
  const applied = found.filter(({ row }) => !open.has(row.remote.id));
  const outcome = parts.isDryRun ? 'would_heal' : 'healed';
  const results = applied.map((one) => reported(one, outcome));
  const changes = applied.map(({ row }): Healed => {
    return { ref: refOf(row), versionMicros: row.remote.versionMicros };
  });
  const left: Found[] = [];
  for (const one of rest) {
    const healed = await healOne(parts, one.row.remote);
    if (healed) {
      results.push(reported(one, outcome));
      changes.push({ ref: refOf(one.row), versionMicros: healed.versionMicros });
    } else left.push(one);
  }
  const missed = await countMissed(parts, stream, changes);
  results.push(...(await askAgain(parts, unsettled)));
  results.push(...(await settleFindings(parts, window, left)));
  results.push(...(await findLacking(parts, stream, window)));
  return { compared: window.rows.length, differences: results, missed };
}

/** What a window's rows come to, beside the ledger. */
interface Judged {
  readonly found: readonly Found[];
  /** What rows may add where the ledger lacks it, though nothing differs. */
  readonly lacking: readonly Look[];
  /** What rows cannot settle: nothing differs in what they show (rule 5). */
  readonly unsettled: readonly ResourceRef[];
}

async function judgeRows(
  { db }: HealParts,
  stream: Stream,
  rows: readonly ListedRow[],
): Promise<Judged> {
  const local = new Map<string, LocalRow>();
  for (let first = 0; first < rows.length; first += LOCAL_ROWS) {
    const ids = rows.slice(first, first + LOCAL_ROWS).map(({ remote }) => remote.id);
    for (const row of await readLocalByIds(db, KIND_OF[stream], ids)) local.set(row.id, row);
  }
  const found: Found[] = [];
  const lacking: Look[] = [];
  const unsettled: ResourceRef[] = [];
  for (const row of rows) {
    const known = local.get(row.remote.id);
    const difference = compare(row.remote, known);
    const added = known?.createdAt === null ? supplementOf(row.remote, row.content) : undefined;
    if (difference) found.push({ row, difference });
    else if (row.isHint && (known?.isCheckWanted || hidesChange(row.remote))) {
      unsettled.push(refOf(row));
    } else if (added) lacking.push(lookOf(row, added));
  }
  return { found, lacking, unsettled };
}

function refOf({ remote: { kind, id } }: ListedRow): ResourceRef {
  return { kind, id };
}

function lookOf(row: ListedRow, content: SnapshotContent): Look {
  return {
    ref: refOf(row),
    content,
    contentHash: contentHash(content),
    source: 'list',
    observedMicros: row.observedMicros,
    webhookEventId: undefined,
  };
}

const ROWS_PER_TRANSACTION = 50;

/** Applies full rows as looks at a list (rule 2). @returns what differs still */
async function applyRows(
  parts: HealParts,
  stream: Stream,
  found: readonly Found[],
): Promise<readonly Found[]> {
  if (parts.isDryRun) return found.filter(({ row }) => row.isHint);
  const full = found.filter(({ row }) => !row.isHint);
  if (full.length === 0) return found;
  await applyLooks(
    parts,
    full.map(({ row }) => lookOf(row, row.content)),
  );
  const rows = found.map(({ row }) => row);
  return (await judgeRows(parts, stream, rows)).found;
}

async function applyLooks(parts: HealParts, looks: readonly Look[]): Promise<void> {
  const { db, clock, historyUntilMs } = parts;
  for (let first = 0; first < looks.length; first += ROWS_PER_TRANSACTION) {
    const some = looks.slice(first, first + ROWS_PER_TRANSACTION);
    const input = { looks: some, suspects: [], nowMs: clock.nowMs(), historyUntilMs };
    await startOver((alsoLock) =>
      db.transaction((tx) => applySnapshots(tx, { ...input, alsoLock })),
    );
  }
}

/**
 * Asks about resources that list rows cannot settle (rule 5).
 * @returns what the answers changed
 * @throws ServiceTrouble
 */
export async function askAgain(
  parts: HealParts,
  refs: readonly ResourceRef[],
): Promise<readonly ReportedDifference[]> {
  const results: ReportedDifference[] = [];
  for (const ref of refs) {
    const retrieved = await parts.retrieve(ref);
    if (retrieved.outcome !== 'applied' || !isChanged(retrieved)) continue;
    const outcome = parts.isDryRun ? 'would_heal' : 'healed';
    results.push({ class: 'stale_local', subject: subjectOf(ref), outcome });
  }
  return results;
}

function isChanged({
  before,
  after,
}: Extract<Retrieved, { readonly outcome: 'applied' }>): boolean {
  return MONEY_FIELDS.some((field) => before?.[field] !== after[field]);
}

const MONEY_FIELDS = ['status', 'stage', 'currency', 'amountMinor', 'capturedMinor'] as const;

/**
 * @returns undefined where it cannot be healed; else its version as the service told it now, which
 *   short rows of lists lack
 * @throws ServiceTrouble
 */
async function healOne(
  parts: HealParts,
  { kind, id }: Remote,
): Promise<{ readonly versionMicros: number | undefined } | undefined> {
  const retrieved = await parts.retrieve({ kind, id });
  if (retrieved.outcome !== 'applied' || retrieved.after.isContradicted) return undefined;
  return { versionMicros: retrieved.after.versionMicros ?? undefined };
}

function reported(
  { row, difference }: Found,
  outcome: ReportedDifference['outcome'],
): ReportedDifference {
  return { class: difference, subject: subjectOf(row.remote), outcome };
}

function subjectOf({ kind, id }: Pick<Remote, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** A change that was brought here; of what has no version nobody can tell when it was made. */
interface Healed {
  readonly ref: ResourceRef;
  readonly versionMicros: number | undefined;
}

/** Counts what changed so long ago that its webhook is lost, and notes whose webhook is awaited. */
async function countMissed(
  parts: HealParts,
  stream: Stream,
  healed: readonly Healed[],
): Promise<number> {
  if (parts.historyUntilMs !== undefined || parts.isDryRun) return 0;
  const { db, metrics, isByHand } = parts;
  const nowMs = parts.clock.nowMs();
  let missed = 0;
  const awaited: { readonly ref: ResourceRef; readonly changedAt: Date }[] = [];
  for (const { ref, versionMicros } of healed) {
    if (versionMicros === undefined) continue;
    const { isMissed, isAwaited } = judgeHealed(versionMicros, { nowMs, isByHand });
    if (isAwaited) awaited.push({ ref, changedAt: new Date(versionMicros / 1000) });
    if (!isMissed) continue;
    missed += 1;
    metrics.missed(stream);
    metrics.secondsToConverge((nowMs - versionMicros / 1000) / 1000);
  }
  if (awaited.length > 0) await awaitWebhooks(db, stream, awaited);
  return missed;
}

/** Opens findings for what is left, closes those of what is equal now (rule 3). */
async function settleFindings(
  { db, isDryRun }: HealParts,
  window: ReadWindow,
  left: readonly Found[],
): Promise<readonly ReportedDifference[]> {
  const subjects = left.map(({ row }) => subjectOf(row.remote));
  const named = left.map(({ row, difference }) => ({
    class: findingClass(difference),
    subject: subjectOf(row.remote),
  }));
  const found = left.length > 0 ? await readAccepted(db, named) : [];
  const accepted = new Set(found.map(({ subject }) => subject));
  if (!isDryRun) {
    if (left.length > 0) {
      await openComparison(
        db,
        left.map(({ row, difference }) => ({
          class: findingClass(difference),
          subject: subjectOf(row.remote),
          detail: { difference, ...detailOf(row.remote) },
        })),
      );
    }
    const open = new Set(subjects);
    const equal = window.rows
      .map(({ remote }) => subjectOf(remote))
      .filter((one) => !open.has(one));
    if (equal.length > 0) await closeComparison(db, COMPARISON_CLASSES, equal);
  }
  return left.map((one) =>
    reported(one, accepted.has(subjectOf(one.row.remote)) ? 'accepted' : 'left'),
  );
}

/** Contradictions in status and money are findings of the merge itself; here, our state is merely old. */
function findingClass(difference: Difference): (typeof COMPARISON_CLASSES)[number] {
  return difference === 'missing_local' ? 'missing_local' : 'stale_local';
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
    service: { status, stage, amountMinor, capturedMinor, currency, paymentId, orderKey },
  };
}

/** Asks for what the ledger has and the list lacks. @throws ServiceTrouble */
async function findLacking(
  parts: HealParts,
  stream: Stream,
  window: ReadWindow,
): Promise<readonly ReportedDifference[]> {
  const listed = new Set(window.rows.map(({ remote }) => remote.id));
  const unreadable = new Set(window.unreadable);
  const lacking: string[] = [];
  for await (const id of idsCreated(parts.db, stream, window.span)) {
    if (!listed.has(id) && !unreadable.has(id)) lacking.push(id);
    if (lacking.length > MAX_LACKING) break;
  }
  if (lacking.length === 0) return [];
  if (lacking.length > MAX_LACKING) return [await unstable(parts, stream)];
  const results: ReportedDifference[] = [];
  for (const id of lacking) {
    const ref = { kind: KIND_OF[stream], id };
    const { outcome } = await parts.retrieve(ref);
    // The service may know it, though its list does not show it: a replica that lags, or a filter.
    if (outcome !== 'missing') continue;
    results.push({ class: 'missing_remote', subject: subjectOf(ref), outcome: 'left' });
  }
  return results;
}

async function unstable({ db, isDryRun }: HealParts, stream: Stream): Promise<ReportedDifference> {
  const named = { class: 'list_unstable', subject: `list:${stream}` } as const;
  if (!isDryRun) await openComparison(db, [{ ...named, detail: LIST_DETAIL }]);
  return { ...named, outcome: 'left' };
}

/** The span that showed it stands in the run: here, each run would end what somebody accepted. */
export const LIST_DETAIL = {};

async function* idsCreated(db: Database, stream: Stream, span: Span): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const request = { span, after, limit: LOCAL_ROWS };
    const ids = await readIdsCreated(db, KIND_OF[stream], request);
    yield* ids;
    const last = ids.at(-1);
    if (last === undefined || ids.length < LOCAL_ROWS) return;
    after = last;
  }
}

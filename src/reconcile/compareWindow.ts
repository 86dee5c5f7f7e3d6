/**
 * Compares one window of a list with the ledger; the rules are those of domain/compare.ts.
 *
 * A row of few fields can be equal and still settle nothing: where the ledger waits for a retrieve of
 * that very resource, or the row hides what can change without another status, or more of a hold may be captured,
 * the resource is *unsettled*, and the run that meets it retrieves it. So is one with a row that is older than the
 * ledger for longer than a replica lags: only the retrieve shows whether the list does. What such a row has and the
 * ledger lacks (when the resource was created) is a *supplement*; it moves no money.
 */
import { contentHash } from '../ledger/contentHash.ts';
import {
  hidesChange,
  type Observation,
  type ResourceRef,
  type SnapshotContent,
  supplementOf,
} from '../ledger/domain/snapshot.ts';
import { type LocalRow, readIdsCreated, readLocalByIds } from '../ledger/read/store/comparison.ts';
import { inChunks } from '../platform/collections.ts';
import type { Database } from '../platform/db/database.ts';
import { keysetRows } from '../platform/keyset.ts';
import { compare, contradictsLate, type Difference } from './domain/compare.ts';
import type { Span } from './domain/windows.ts';
import type { ListedRow, ListedWindow } from './listReader.ts';
import type { RunContext } from './runContext.ts';
import { KIND_OF, type Stream } from './streams.ts';

/** A row that differs from the ledger. */
export interface DifferingRow {
  readonly row: ListedRow;
  readonly difference: Difference;
}

export interface RowComparison {
  readonly differing: readonly DifferingRow[];
  readonly supplements: readonly Observation[];
  readonly unsettled: readonly ResourceRef[];
}

export interface WindowComparison extends RowComparison {
  readonly window: ListedWindow;
  /** Ids that the ledger has of this window and the list does not show, at most one more than MAX_UNLISTED. */
  readonly unlisted: readonly string[];
}

/** Unlisted resources of one window that are retrieved; more of them show that the list is at fault. */
export const MAX_UNLISTED = 20;

/** Resources of one window with an older row that are retrieved; more of them show that the list lags. */
const MAX_OLDER = 20;

/** Rows of the ledger that one statement reads. */
const LOCAL_ROWS = 1_000;

export async function compareWindow(
  run: RunContext,
  window: ListedWindow,
): Promise<WindowComparison> {
  const rows = await compareRows(run, window.rows);
  return { ...rows, window, unlisted: await findUnlisted(run, window) };
}

/** Compares rows of a list with what the ledger has of the same resources. */
export async function compareRows(
  run: RunContext,
  rows: readonly ListedRow[],
): Promise<RowComparison> {
  const local = await readLocal(run, rows);
  const differing: DifferingRow[] = [];
  const supplements: Observation[] = [];
  const unsettled: ResourceRef[] = [];
  const older: ResourceRef[] = [];
  for (const row of rows) {
    const known = local.get(row.remote.id);
    const difference = compare(row.remote, known);
    const added = known?.createdAt === null ? supplementOf(row.remote, row.content) : undefined;
    if (difference) differing.push({ row, difference });
    else if (known && contradictsLate(row.remote, known, row.observedMicros)) {
      older.push(refOf(row));
    } else if (row.isHint && mayHideChange(row, known)) {
      unsettled.push(refOf(row));
    } else if (added) supplements.push(observationOf(row, added));
  }
  if (older.length <= MAX_OLDER) unsettled.push(...older);
  return { differing, supplements, unsettled };
}

function mayHideChange({ remote, content }: ListedRow, known: LocalRow | undefined): boolean {
  const isOpen = known !== undefined && (known.awaitsRetrieve || known.mayCaptureMore);
  return isOpen || hidesChange(remote, content);
}

async function readLocal(
  { parts: { db }, stream }: RunContext,
  rows: readonly ListedRow[],
): Promise<ReadonlyMap<string, LocalRow>> {
  const local = new Map<string, LocalRow>();
  for (const batch of inChunks(rows, LOCAL_ROWS)) {
    const ids = batch.map(({ remote }) => remote.id);
    for (const row of await readLocalByIds(db, KIND_OF[stream], ids)) local.set(row.id, row);
  }
  return local;
}

async function findUnlisted(
  { parts: { db }, stream }: RunContext,
  window: ListedWindow,
): Promise<readonly string[]> {
  const listed = new Set(window.rows.map(({ remote }) => remote.id));
  const unreadable = new Set(window.unreadable);
  const unlisted: string[] = [];
  for await (const id of idsCreated(db, stream, window.span)) {
    if (!listed.has(id) && !unreadable.has(id)) unlisted.push(id);
    if (unlisted.length > MAX_UNLISTED) break;
  }
  return unlisted;
}

function idsCreated(db: Database, stream: Stream, span: Span): AsyncIterable<string> {
  return keysetRows<string>(LOCAL_ROWS, (after = '', limit) =>
    readIdsCreated(db, KIND_OF[stream], { span, after, limit }),
  );
}

export function refOf({ remote: { kind, id } }: ListedRow): ResourceRef {
  return { kind, id };
}

/** A list row, or a part of it, as an observation of its resource. */
export function observationOf(row: ListedRow, content: SnapshotContent): Observation {
  return {
    ref: refOf(row),
    content,
    contentHash: contentHash(content),
    source: 'list',
    observedMicros: row.observedMicros,
    webhookEventId: undefined,
  };
}

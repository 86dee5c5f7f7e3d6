/** Statements on what is stored of each list: how far it was read, and what was learned about it. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Stream } from '../streams.ts';

/** What is stored about a list. */
export interface StreamRow {
  readonly watermarkAt: Date | null;
  /** When the first import ended; null before that. */
  readonly importedAt: Date | null;
  readonly pageLimit: number;
  /** When the sums of analytics last agreed with the ledger's; null while they are not used. */
  readonly sumsCalibratedAt: Date | null;
  /** The service's clock less the database's when the last run was opened; null before the first. */
  readonly serviceSkewMs: number | null;
}

const NEW_STREAM: StreamRow = {
  watermarkAt: null,
  importedAt: null,
  pageLimit: 100,
  sumsCalibratedAt: null,
  serviceSkewMs: null,
};

export async function readStream(db: Queryable, stream: Stream): Promise<StreamRow> {
  const rows = await db.query<StreamRow>(
    `select watermark_at as "watermarkAt", imported_at as "importedAt", page_limit as "pageLimit",
            sums_calibrated_at as "sumsCalibratedAt", service_skew_ms as "serviceSkewMs"
       from reconcile_streams where stream = $1`,
    [stream],
  );
  return rows[0] ?? NEW_STREAM;
}

export async function writeServiceSkew(
  db: Queryable,
  stream: Stream,
  skewMs: number,
): Promise<void> {
  await db.query('update reconcile_streams set service_skew_ms = $2 where stream = $1', [
    stream,
    skewMs,
  ]);
}

/** Up to where each list is read; without lists that never were. */
export function readWatermarks(
  db: Queryable,
): Promise<readonly { readonly stream: Stream; readonly at: Date }[]> {
  return db.query(
    `select stream, watermark_at as at from reconcile_streams
      where watermark_at is not null order by stream limit 10`,
  );
}

/** Lists that were never read to their end, and when a run last read something of each; null if none did. */
export function readUnreadLists(
  db: Queryable,
): Promise<readonly { readonly stream: Stream; readonly progressAt: Date | null }[]> {
  return db.query(
    `select s.stream, (select max(r.updated_at) from reconcile_runs r
                        where r.stream = s.stream and not r.is_dry_run) as "progressAt"
       from reconcile_streams s
      where s.watermark_at is null order by s.stream limit 10`,
  );
}

export async function writePageLimit(
  db: Queryable,
  stream: Stream,
  pageLimit: number,
): Promise<void> {
  await db.query('update reconcile_streams set page_limit = $2 where stream = $1', [
    stream,
    pageLimit,
  ]);
}

/** @param at null where the sums are no longer used */
export async function writeCalibration(
  db: Queryable,
  stream: Stream,
  at: Date | null,
): Promise<void> {
  await db.query('update reconcile_streams set sums_calibrated_at = $2 where stream = $1', [
    stream,
    at,
  ]);
}

/**
 * Moves the watermark, never back, and records that the list was imported. `fromAt` must not lie beyond
 * the watermark, or there would be a gap.
 * @param mayBegin whether the run may set the first watermark
 * @returns whether the span reached back to the watermark
 */
export async function advanceWatermark(
  db: Queryable,
  stream: Stream,
  span: { readonly fromAt: Date; readonly toAt: Date; readonly mayBegin: boolean },
): Promise<boolean> {
  const rows = await db.query(
    `update reconcile_streams
        set watermark_at = greatest(watermark_at, $3),
            imported_at = coalesce(imported_at, statement_timestamp())
      where stream = $1 and (watermark_at >= $2 or (watermark_at is null and $4))
      returning stream`,
    [stream, span.fromAt, span.toAt, span.mayBegin],
  );
  return rows.length > 0;
}

/** Where a list was unstable, as of the run that showed it. */
export interface UnstableRow {
  readonly reachMs: number;
  readonly toAt: Date;
}

/** Adds a part in which a list was unstable. */
export async function addUnstable(
  tx: Queryable,
  stream: Stream,
  { reachMs, toAt }: UnstableRow,
): Promise<void> {
  await tx.query(
    `update reconcile_streams
        set unstable_reach_ms = greatest(unstable_reach_ms, $2),
            unstable_to_at = greatest(unstable_to_at, $3)
      where stream = $1`,
    [stream, reachMs, toAt],
  );
}

/** Locks the row of the list, so that nothing is added meanwhile. @returns undefined where it was unstable nowhere */
export async function lockUnstable(
  tx: Queryable,
  stream: Stream,
): Promise<UnstableRow | undefined> {
  const rows = await tx.query<UnstableRow | { readonly reachMs: null; readonly toAt: null }>(
    `select unstable_reach_ms as "reachMs", unstable_to_at as "toAt"
       from reconcile_streams where stream = $1 for update`,
    [stream],
  );
  const [row] = rows;
  return row && row.reachMs !== null ? row : undefined;
}

export async function clearUnstable(tx: Queryable, stream: Stream): Promise<void> {
  await tx.query(
    'update reconcile_streams set unstable_reach_ms = null, unstable_to_at = null where stream = $1',
    [stream],
  );
}

/** Replaces a watermark; does nothing when it has moved meanwhile. */
export async function replaceWatermark(
  tx: Queryable,
  stream: Stream,
  { from, to }: { readonly from: Date; readonly to: Date | null },
): Promise<void> {
  await tx.query(
    `update reconcile_streams set watermark_at = $3
      where stream = $1 and date_trunc('milliseconds', watermark_at) = $2`,
    [stream, from, to],
  );
}

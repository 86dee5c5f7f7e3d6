/** Statements on batches of which rows were removed. */
import type { Queryable } from '../../platform/db/database.ts';
import type { WrittenBatch } from '../writeBatch.ts';

/**
 * Records a batch in the transaction that removes its rows. A batch that was archived before has its
 * row already, if an import brought its rows back.
 * @param removed how many of its rows the transaction removes
 */
export async function recordBatch(
  tx: Queryable,
  { className, name, rows, files, bytes, manifestSha256 }: WrittenBatch,
  removed: number,
): Promise<void> {
  await tx.query(
    `insert into archived_batches as b
       (name, class, rows, removed, files, bytes, manifest_sha256)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name) do update
        set removed = greatest(b.removed, excluded.removed), files = excluded.files,
            bytes = excluded.bytes, manifest_sha256 = excluded.manifest_sha256,
            removed_at = excluded.removed_at`,
    [name, className, rows, removed, files, bytes, Buffer.from(manifestSha256, 'hex')],
  );
}

export interface RecordedBatch {
  /** The name of its manifest. */
  readonly name: string;
  readonly className: string;
  readonly rows: number;
  /** How many of them the ledger removed. */
  readonly removed: number;
  readonly files: number;
  readonly bytes: number;
  readonly manifestSha256: string;
  readonly removedAt: Date;
}

const COLUMNS = `
  name, class as "className", rows, removed, files, bytes,
  encode(manifest_sha256, 'hex') as "manifestSha256", removed_at as "removedAt"`;

/** Batches in the order of their names, of one class or of all. */
export function readBatchesAfter(
  db: Queryable,
  page: {
    readonly className: string | undefined;
    readonly after: string;
    readonly limit: number;
  },
): Promise<readonly RecordedBatch[]> {
  return db.query<RecordedBatch>(
    `select ${COLUMNS}
       from archived_batches
      where name > $1 and ($2::text is null or class = $2)
      order by name
      limit $3`,
    [page.after, page.className ?? null, page.limit],
  );
}

/** The name of the batch that was removed last, if that was within a week. */
export async function readLastBatch(db: Queryable): Promise<string | undefined> {
  const [row] = await db.query<{ name: string }>(
    `select name from archived_batches
      where removed_at > statement_timestamp() - interval '7 days'
      order by removed_at desc, name desc
      limit 1`,
  );
  return row?.name;
}

export interface LatestBatch extends RecordedBatch {
  /** Microseconds since 1970: a cursor must not lose digits. */
  readonly removedMicros: number;
}

export interface LatestPage {
  /** The page begins after this batch; the time is ISO 8601 with microseconds. */
  readonly after: { readonly at: string; readonly name: string } | undefined;
  readonly limit: number;
}

/** The batches of a class, those that were removed last first. */
export function readLatestBatches(
  db: Queryable,
  className: string,
  { after, limit }: LatestPage,
): Promise<readonly LatestBatch[]> {
  return db.query<LatestBatch>(
    `select ${COLUMNS}, (extract(epoch from removed_at) * 1000000)::bigint as "removedMicros"
       from archived_batches
      where class = $1 and ($2::timestamptz is null or (removed_at, name) < ($2, $3::text))
      order by removed_at desc, name desc
      limit $4`,
    [className, after?.at ?? null, after?.name ?? null, limit],
  );
}

/** Which of these manifests the ledger has a record of. */
export async function readRecordedNames(
  db: Queryable,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ name: string }>(
    'select name from archived_batches where name = any ($1::text[]) limit $2',
    [names, names.length],
  );
  return new Set(rows.map(({ name }) => name));
}

export interface ArchivedClass {
  readonly className: string;
  readonly batches: number;
  readonly rows: number;
  readonly removed: number;
  readonly bytes: number;
  readonly firstRemovedAt: Date;
  readonly lastRemovedAt: Date;
}

export function readArchivedClasses(db: Queryable): Promise<readonly ArchivedClass[]> {
  return db.query<ArchivedClass>(
    `select class as "className", count(*) as batches, sum(rows)::bigint as rows,
            sum(removed)::bigint as removed, sum(bytes)::bigint as bytes,
            min(removed_at) as "firstRemovedAt", max(removed_at) as "lastRemovedAt"
       from archived_batches
      group by class
      order by class
      limit 100`,
  );
}

/** Statements on requests for erasure. */
import type { Queryable } from '../../platform/db/database.ts';

export interface ErasureRow {
  readonly id: number;
  /** Such as `order:ord_1`; customers of a request that is done as `customer:sha256:…`. */
  readonly subjects: readonly string[];
  readonly reason: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly state: 'running' | 'done';
  readonly copiesErasedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly bodies: number;
  readonly texts: number;
  readonly remaining: number | null;
}

const COLUMNS = `
  e.id, e.subjects, e.reason, e.requested_by as "requestedBy", e.requested_at as "requestedAt", e.state,
  e.copies_erased_at as "copiesErasedAt", e.finished_at as "finishedAt", e.texts, e.remaining,
  (select count(*) from erased_bodies b where b.erasure_id = e.id) as bodies`;

export async function insertErasure(
  tx: Queryable,
  erasure: {
    readonly subjects: readonly string[];
    readonly reason: string;
    readonly requestedBy: string;
  },
): Promise<number> {
  const [row] = await tx.query<{ id: number }>(
    'insert into erasures (subjects, reason, requested_by) values ($1, $2, $3) returning id',
    [erasure.subjects, erasure.reason, erasure.requestedBy],
  );
  if (!row) throw new Error('an insert that always returns a row returned none');
  return row.id;
}

/** The requests that are not done, oldest first. */
export function readRunningErasures(db: Queryable, limit: number): Promise<readonly ErasureRow[]> {
  return db.query<ErasureRow>(
    `select ${COLUMNS} from erasures e where e.state = 'running' order by e.id limit $1`,
    [limit],
  );
}

export async function readErasure(db: Queryable, id: number): Promise<ErasureRow | undefined> {
  const rows = await db.query<ErasureRow>(`select ${COLUMNS} from erasures e where e.id = $1`, [
    id,
  ]);
  return rows[0];
}

/** Requests below a number, newest first. */
export function readErasures(
  db: Queryable,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<readonly ErasureRow[]> {
  return db.query<ErasureRow>(
    `select ${COLUMNS} from erasures e where e.id < $1 order by e.id desc limit $2`,
    [below, limit],
  );
}

/** Counts rows in which text was replaced. */
export async function addTexts(tx: Queryable, id: number, texts: number): Promise<void> {
  await tx.query('update erasures set texts = texts + $2 where id = $1', [id, texts]);
}

export async function markCopiesErased(tx: Queryable, id: number): Promise<void> {
  await tx.query(
    `update erasures set copies_erased_at = coalesce(copies_erased_at, statement_timestamp())
      where id = $1`,
    [id],
  );
}

/** @returns false if another process has ended it */
export async function markErasureDone(
  tx: Queryable,
  {
    id,
    subjects,
    remaining,
  }: { readonly id: number; readonly subjects: readonly string[]; readonly remaining: number },
): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `update erasures
        set state = 'done', finished_at = statement_timestamp(), subjects = $2, remaining = $3
      where id = $1 and state = 'running'
      returning id`,
    [id, subjects, remaining],
  );
  return rows.length > 0;
}

/**
 * Reserves a request for this transaction's connection until it ends.
 * @returns false if another process works on it
 */
export async function tryLockErasure(session: Queryable, id: number): Promise<boolean> {
  const rows = await session.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(hashtext('tallyhook erasure'), $1::int) as locked`,
    [id],
  );
  return rows[0]?.locked === true;
}

/** Statements on requests for erasure. */
import { lockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import { MINUTE_MS } from '../../platform/time.ts';

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
  /** Null while it runs, and for requests of older versions. */
  readonly proof: ErasureProof | null;
}

/** What the search at the end found, as it is stored. */
export interface ErasureProof {
  readonly places: readonly { readonly table: string; readonly rows: number }[];
  /** Inbox numbers of other events with the same values. */
  readonly events: readonly number[];
  readonly unreadable_tables: readonly string[];
  readonly to_vacuum: readonly string[];
}

const COLUMNS = `
  e.id, e.subjects, e.reason, e.requested_by as "requestedBy", e.requested_at as "requestedAt", e.state,
  e.copies_erased_at as "copiesErasedAt", e.finished_at as "finishedAt", e.texts, e.remaining, e.proof,
  (select count(*) from erased_bodies b where b.erasure_id = e.id) as bodies`;

/** Makes others who request an erasure wait for this transaction, so that they find its request. */
export async function lockErasureRequests(tx: Queryable): Promise<void> {
  await lockByName(tx, 'tallyhook erasure requests');
}

/** @param erasure with a holder if its process begins at once; otherwise the scheduler does */
export async function insertErasure(
  tx: Queryable,
  erasure: {
    readonly subjects: readonly string[];
    readonly reason: string;
    readonly requestedBy: string;
    readonly holder: string | undefined;
  },
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into erasures (subjects, reason, requested_by, claimed_by, claimed_until)
     values ($1, $2, $3, $4::uuid,
             case when $4::uuid is not null then clock_timestamp() + $5 * interval '1 millisecond' end)
     returning id`,
    [
      erasure.subjects,
      erasure.reason,
      erasure.requestedBy,
      erasure.holder ?? null,
      ERASURE_LEASE_MS,
    ],
  );
  return oneRow(rows).id;
}

/** The requests that are not done, oldest first. */
export function readRunningErasures(db: Queryable, limit: number): Promise<readonly ErasureRow[]> {
  return db.query<ErasureRow>(
    `select ${COLUMNS} from erasures e where e.state = 'running' order by e.id limit $1`,
    [limit],
  );
}

/** The request that has been open longest. @returns its time in ms by the database's clock */
export async function readOldestOpenErasure(
  db: Queryable,
): Promise<{ readonly id: number; readonly requestedMs: number } | undefined> {
  const rows = await db.query<{ id: number; requestedAt: Date }>(
    `select id, requested_at as "requestedAt" from erasures
      where state = 'running' order by id limit 1`,
    [],
  );
  const [oldest] = rows;
  return oldest && { id: oldest.id, requestedMs: oldest.requestedAt.getTime() };
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

/** The requests that name any of these subjects. */
export function findErasuresOfSubjects(
  db: Queryable,
  subjects: readonly string[],
): Promise<readonly { readonly name: string; readonly id: number }[]> {
  return db.query(
    `select named.name, e.id
       from erasures e cross join lateral unnest(e.subjects) as named (name)
      where named.name = any ($1::text[])
      order by e.id
      limit 100000`,
    [subjects],
  );
}

/** When requests were done; those that run are missing. */
export async function readFinishedAt(
  db: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Date>> {
  const rows = await db.query<{ id: number; finishedAt: Date }>(
    `select id, finished_at as "finishedAt" from erasures
      where id = any ($1::bigint[]) and finished_at is not null
      limit $2`,
    [ids, ids.length],
  );
  return new Map(rows.map(({ id, finishedAt }) => [id, finishedAt]));
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
  erasure: {
    readonly id: number;
    readonly subjects: readonly string[];
    readonly remaining: number;
    readonly proof: ErasureProof;
  },
): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `update erasures
        set state = 'done', finished_at = statement_timestamp(), subjects = $2, remaining = $3,
            proof = $4, claimed_by = null, claimed_until = null
      where id = $1 and state = 'running'
      returning id`,
    [erasure.id, erasure.subjects, erasure.remaining, JSON.stringify(erasure.proof)],
  );
  return rows.length > 0;
}

/** How long a claim lasts without a renewal. */
const ERASURE_LEASE_MS = MINUTE_MS;
/** After a try that did not finish: every try searches the whole database. */
export const ERASURE_PAUSE_MS = 10 * MINUTE_MS;

/** One process that works on one request. */
export interface HeldErasure {
  readonly id: number;
  /** A UUID; each try has its own. */
  readonly holder: string;
}

/**
 * Claims a request, also during the pause after an unfinished try.
 * @returns false if another process holds it, or it is done
 */
export async function claimErasure(db: Queryable, held: HeldErasure): Promise<boolean> {
  const rows = await db.query<{ id: number }>(
    `update erasures
        set claimed_by = $2, claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
      where id = $1 and state = 'running'
        and (claimed_by is null or claimed_until not between clock_timestamp()
               and clock_timestamp() + $3 * interval '1 millisecond')
      returning id`,
    [held.id, held.holder, ERASURE_LEASE_MS],
  );
  return rows.length > 0;
}

/**
 * Claims the request that waits longest, unless none is due. A time further ahead than any pause was
 * stored under a wrong clock, and prevents no claim.
 * @returns its number
 */
export async function claimNextErasure(db: Queryable, holder: string): Promise<number | undefined> {
  const rows = await db.query<{ id: number }>(
    `update erasures
        set claimed_by = $1, claimed_until = clock_timestamp() + $2 * interval '1 millisecond'
      where id = (select id from erasures
                   where state = 'running'
                     and (claimed_until is null or claimed_until not between clock_timestamp()
                            and clock_timestamp() + $3 * interval '1 millisecond')
                   order by claimed_until nulls first, id
                   limit 1
                   for update skip locked)
      returning id`,
    [holder, ERASURE_LEASE_MS, Math.max(ERASURE_LEASE_MS, ERASURE_PAUSE_MS)],
  );
  return rows[0]?.id;
}

/** @returns false if another process has claimed it, or it is done */
export async function renewErasure(db: Queryable, { id, holder }: HeldErasure): Promise<boolean> {
  const rows = await db.query<{ id: number }>(
    `update erasures set claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
      where id = $1 and claimed_by = $2 and state = 'running'
      returning id`,
    [id, holder, ERASURE_LEASE_MS],
  );
  return rows.length > 0;
}

/** Ends a claim. The scheduler continues the request after a pause. */
export async function releaseErasure(
  db: Queryable,
  { id, holder }: HeldErasure,
  pauseMs: number,
): Promise<void> {
  await db.query(
    `update erasures
        set claimed_by = null, claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
      where id = $1 and claimed_by = $2 and state = 'running'`,
    [id, holder, pauseMs],
  );
}

/**
 * Statements on findings.
 *
 * Those that find open ones by key state `closed_at is null`. By `state = 'open'`, a plan that was made while few were
 * open may read the index of all open ones instead (docs/decisions/0178-plans-for-small-tables.md).
 */
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';
import type { Caused, FindingClass } from '../domain/findings.ts';

export interface FindingName {
  readonly class: string;
  readonly subject: string;
}

/** A finding that was opened or changed by this statement. */
export interface ShownFinding extends FindingName {
  readonly detail: Readonly<Record<string, unknown>>;
  /** How long it has been open. */
  readonly ageMs: number;
}

/**
 * Opens findings. An open one with a different detail is updated and loses its acceptance. No two
 * findings have the same class and subject.
 * @returns those that were opened or changed
 */
export function upsertFindings(
  tx: Queryable,
  findings: readonly (FindingName & Pick<ShownFinding, 'detail'> & Caused)[],
): Promise<readonly ShownFinding[]> {
  return tx.query<ShownFinding>(
    `insert into findings (class, subject, detail, opened_by_event)
     select class, subject, detail, event
       from unnest($1::text[], $2::text[], $3::jsonb[], $4::bigint[]) as u (class, subject, detail, event)
      order by class, subject
     on conflict (class, subject) where state = 'open'
     do update set detail = excluded.detail, updated_at = now(),
                   accepted_at = null, accepted_by = null, accepted_reason = null
      where findings.detail <> excluded.detail
     returning class, subject, detail,
               (extract(epoch from statement_timestamp() - opened_at) * 1000)::bigint as "ageMs"`,
    [
      findings.map((finding) => finding.class),
      findings.map(({ subject }) => subject),
      findings.map(({ detail }) => JSON.stringify(detail)),
      findings.map(({ causedBy }) => causedBy ?? null),
    ],
  );
}

/** Closes findings. @returns those that were open */
export function markClosed(
  tx: Queryable,
  findings: readonly (FindingName & Caused)[],
): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings f
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now(),
            closed_by_event = u.event
       from unnest($1::text[], $2::text[], $3::bigint[]) as u (class, subject, event)
      where f.closed_at is null and f.class = u.class and f.subject = u.subject
      returning f.class, f.subject`,
    [
      findings.map((finding) => finding.class),
      findings.map(({ subject }) => subject),
      findings.map(({ causedBy }) => causedBy ?? null),
    ],
  );
}

/** Closes findings of any of these classes about any of these subjects. @returns those that were open */
export function markClassesClosed(
  tx: Queryable,
  classes: readonly FindingClass[],
  subjects: readonly string[],
): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where closed_at is null and class = any ($1::text[]) and subject = any ($2::text[])
      returning class, subject`,
    [classes, subjects],
  );
}

/**
 * Closes every open finding about these subjects.
 * @returns those that were open
 */
export function markSubjectsClosed(
  tx: Queryable,
  subjects: readonly string[],
): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where closed_at is null and subject = any ($1::text[])
      returning class, subject`,
    [subjects],
  );
}

export async function readOpenFindingId(
  tx: Queryable,
  { class: findingClass, subject }: FindingName,
): Promise<number | undefined> {
  const rows = await tx.query<{ id: number }>(
    `select id from findings where subject = $1 and class = $2 and state = 'open' limit 1`,
    [subject, findingClass],
  );
  return rows[0]?.id;
}

/** Digest of the facts of a finding: the same as long as they do not change. */
export const DETAIL_DIGEST = `left(encode(sha256(convert_to(detail::text, 'UTF8')), 'hex'), 32)`;

/** Who accepts a finding and why; both not empty. */
export interface Acceptance {
  readonly by: string;
  readonly reason: string;
  /** Digest of the facts that were shown; undefined: any. */
  readonly digest?: string | undefined;
}

/**
 * Accepts an open finding that is not accepted yet and has the facts that were shown.
 * @returns its name; undefined if there is none
 */
export async function markAccepted(
  tx: Queryable,
  id: number,
  { by, reason, digest }: Acceptance,
): Promise<FindingName | undefined> {
  const rows = await tx.query<FindingName>(
    `update findings
        set accepted_at = statement_timestamp(), accepted_by = $2, accepted_reason = $3,
            updated_at = now()
      where id = $1 and state = 'open' and accepted_at is null
        and ($4::text is null or ${DETAIL_DIGEST} = $4)
      returning class, subject`,
    [id, by, reason, digest ?? null],
  );
  return rows[0];
}

/**
 * The subjects that have an open, accepted finding of a class. Locks the findings, so that none is
 * accepted before the caller commits.
 */
export async function lockAccepted(
  tx: Queryable,
  findingClass: FindingClass,
  subjects: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.query<{ subject: string; isAccepted: boolean }>(
    `select subject, accepted_at is not null as "isAccepted"
       from findings
      where closed_at is null and class = $1 and subject = any ($2::text[])
      order by subject
        for share`,
    [findingClass, subjects],
  );
  return rows.flatMap(({ subject, isAccepted }) => (isAccepted ? subject : []));
}

/** @returns undefined if the finding does not exist */
export async function readFindingState(
  db: Queryable,
  id: number,
): Promise<'open' | 'accepted' | 'closed' | undefined> {
  const rows = await db.query<{ state: 'open' | 'accepted' | 'closed' }>(
    `select case when state = 'open' and accepted_at is not null then 'accepted' else state end as state
       from findings where id = $1`,
    [id],
  );
  return rows[0]?.state;
}

/**
 * Whether a finding `f` is removable. One about an event stays while the event is in the inbox, because it
 * explains why the event was not applied.
 */
const IS_REMOVABLE = `
  f.state = 'closed' and f.closed_at < $1
  and case when f.subject ~ '^event:[0-9]{1,15}$'
           then not exists (select from webhook_events e where e.id = substr(f.subject, 7)::bigint)
           else true end`;

/** The next findings by number. */
export async function scanClosed(
  db: Queryable,
  { before, after, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(
    `select f.id as key, f.opened_at < $1 as "isPast",
            coalesce(${IS_REMOVABLE}, false) as "isRemovable"
       from (select id, opened_at, closed_at, state, subject from findings
              where id > $2 order by id limit $3) f
      order by f.id`,
    [before, after, limit],
  );
}

export async function deleteClosed(
  tx: Queryable,
  ids: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await tx.query(
    `delete from findings f where f.id = any ($2::bigint[]) and ${IS_REMOVABLE} returning f.id`,
    [before, ids],
  );
  return rows.length;
}

export async function measureClosed(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `select (select count(*) from (select from findings limit $2) f) as rows,
            (select opened_at from findings order by id limit 1) as oldest,
            (select count(*)
               from (select from findings f where ${IS_REMOVABLE} limit $2) f) as removable`,
    [before, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}

/** Statements on the audit log. It is only ever appended to: a trigger refuses anything else. */
import { lockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import {
  type Found,
  type SearchFilter,
  type SearchPage,
  type SearchSource,
  searchNewest,
} from '../../platform/db/search.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { Actor } from '../domain/actor.ts';
import type { AuditAction, AuditIntent, AuditResult, AuditSubject } from '../domain/entry.ts';
import type { AuditFacts } from '../domain/text.ts';

export interface AuditRow {
  readonly id: number;
  readonly recordedAt: Date;
  readonly actorKind: Actor['kind'];
  readonly actorName: string;
  readonly actorRole: string;
  readonly actorOrigin: string;
  readonly action: AuditAction;
  readonly subjectKind: string;
  readonly subjectId: string;
  readonly orderKey: string | null;
  readonly reason: string | null;
  readonly result: AuditResult;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The number of the entry `requested` of the same attempt; null for an action without a call. */
  readonly attempt: number | null;
}

const COLUMNS = `
  id, recorded_at as "recordedAt", actor_kind as "actorKind", actor_name as "actorName",
  actor_role as "actorRole", actor_origin as "actorOrigin", action,
  subject_kind as "subjectKind", subject_id as "subjectId", order_key as "orderKey", reason,
  result, detail, case when result = 'requested' then id else attempt end as "attempt"`;

const INSERTED = `
  actor_kind, actor_name, actor_role, actor_origin, action, subject_kind, subject_id, order_key,
  reason, detail`;

/** Appends an entry. @returns its number */
export async function insertEntry(
  tx: Queryable,
  intent: AuditIntent,
  { result, attempt }: { readonly result: AuditResult; readonly attempt: number | null },
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into audit (${INSERTED}, result, attempt)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     returning id`,
    [...valuesOf(intent), result, attempt],
  );
  return oneRow(rows).id;
}

/** Makes other refusals of the actor wait for this transaction, so that they find its entry. */
export async function lockRefusals(tx: Queryable, { kind, name }: Actor): Promise<void> {
  await lockByName(tx, `audit refusal ${kind} ${name}`);
}

/**
 * Where an entry of the last minute is. The log is never removed: by the actor or the subject, PostgreSQL reads all of it
 * where they have many entries and none of the last minute. Beyond so many in a minute, a refusal is recorded once more.
 */
const NEWEST = `(select id, actor_kind, actor_name, action, subject_kind, subject_id, recorded_at
                                from audit order by id desc limit 1000) newest`;

/**
 * Appends a refusal, unless the actor has one of the same from the last minute.
 * @returns whether it was appended
 */
export async function insertRefusal(db: Queryable, intent: AuditIntent): Promise<boolean> {
  const rows = await db.query(
    `insert into audit (${INSERTED}, result)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, 'refused'
      where coalesce((select recorded_at
                        from ${NEWEST}
                       where subject_kind = $6 and subject_id = $7 and action = $5
                         and actor_kind = $1 and actor_name = $2
                       order by id desc limit 1) < statement_timestamp() - interval '1 minute', true)
     returning id`,
    valuesOf(intent),
  );
  return rows.length > 0;
}

function valuesOf({ actor, action, subject, orderKey, reason, detail }: AuditIntent) {
  return [
    actor.kind,
    actor.name,
    actor.role,
    actor.origin,
    action,
    subject.kind,
    subject.id,
    orderKey ?? null,
    reason ?? null,
    JSON.stringify(detail ?? {}),
  ];
}

export interface AuditFilter {
  readonly actor: string | undefined;
  readonly action: AuditAction | undefined;
  readonly subject: AuditSubject | undefined;
  /** Only entries about one of these orders or its parts. */
  readonly orderKeys: readonly string[] | undefined;
  readonly since: Date | undefined;
  readonly before?: Date | undefined;
  /** Only attempts without a result. */
  readonly isOpen: boolean;
}

/** Entries of a filter, newest first. */
export function searchAudit(
  db: Queryable,
  filter: AuditFilter,
  page: SearchPage,
): Promise<Found<AuditRow>> {
  const { isOpen, ...others } = filter;
  const isFiltered = isOpen || Object.values(others).some((one) => one !== undefined);
  return searchNewest<AuditRow>(
    db,
    {
      table: 'audit',
      key: 'id',
      columns: COLUMNS,
      source: sourceOf(filter),
      filter: isFiltered ? comparisonOf(filter) : undefined,
    },
    page,
  );
}

/** The condition with an index that is likely to leave the fewest entries. */
function sourceOf({ actor, action, subject, orderKeys, isOpen }: AuditFilter): SearchSource {
  if (subject !== undefined) {
    const where = 'subject_kind = ($2::text[])[1] and subject_id = ($2::text[])[2]';
    return { where, value: [subject.kind, subject.id] };
  }
  if (orderKeys !== undefined) {
    return { where: 'order_key = any ($2::text[])', value: orderKeys };
  }
  if (isOpen) return { where: `result = 'requested'` };
  if (actor !== undefined) return { where: 'actor_name = $2', value: actor };
  if (action !== undefined) return { where: 'action = $2', value: action };
  return { where: 'true' };
}

function comparisonOf(filter: AuditFilter): SearchFilter {
  const { since, before, isOpen } = filter;
  return {
    columns: 'actor_name, action, subject_kind, subject_id, order_key, recorded_at, result',
    where: `($5::text is null or actor_name = $5) and ($6::text is null or action = $6)
            and ($7::text is null or subject_kind = $7 and subject_id = $8)
            and ($9::text[] is null or order_key = any ($9::text[]))
            and ($10::timestamptz is null or recorded_at >= $10)
            and ($11::timestamptz is null or recorded_at < $11)
            ${isOpen ? `and result = 'requested' and not exists (select from audit e where e.attempt = searched.id)` : ''}`,
    values: [
      filter.actor ?? null,
      filter.action ?? null,
      filter.subject?.kind ?? null,
      filter.subject?.id ?? null,
      filter.orderKeys ?? null,
      since?.toISOString() ?? null,
      before?.toISOString() ?? null,
    ],
    // Numbers follow the time but for transactions that ran at the same time, and for a clock that was set.
    end: since && { timeColumn: 'recorded_at', at: new Date(since.getTime() - DAY_MS) },
  };
}

/**
 * When an attempt at the action on the subject last ended with an unknown outcome, within a span of time, also one that
 * a person closed so: that entry has an action of its own.
 * @param seen only attempts with all of this in their detail count
 * @param but attempts with all of this in their detail do not count
 */
export async function readLastUnknown(
  db: Queryable,
  {
    action,
    subject,
    withinMs,
    seen,
    but,
  }: {
    readonly action: AuditAction;
    readonly subject: AuditSubject;
    readonly withinMs: number;
    readonly seen?: AuditIntent['detail'];
    readonly but?: AuditIntent['detail'];
  },
): Promise<Date | undefined> {
  const [row] = await db.query<{ recordedAt: Date }>(
    `select e.recorded_at as "recordedAt"
       from audit e
       join audit a on a.id = e.attempt and a.action = $3
      where e.subject_kind = $1 and e.subject_id = $2 and e.result = 'unknown'
        and e.recorded_at >= statement_timestamp() - $4 * interval '1 millisecond'
        and ($5::jsonb is null or a.detail @> $5::jsonb)
        and ($6::jsonb is null or not a.detail @> $6::jsonb)
      order by e.id desc
      limit 1`,
    [
      subject.kind,
      subject.id,
      action,
      withinMs,
      seen ? JSON.stringify(seen) : null,
      but ? JSON.stringify(but) : null,
    ],
  );
  return row?.recordedAt;
}

/** Times are microseconds since 1970. */
export interface AuditSummary extends AuditFacts {
  readonly id: number;
  readonly recordedMicros: number;
  readonly attempt: number | null;
}

/** Entries about an order or about one of the subjects, without some actions, newest first. */
export function readAuditHistory(
  db: Queryable,
  {
    orderKey,
    subjects,
    without,
    limit,
  }: {
    readonly orderKey: string | undefined;
    /** Such as `payment:pay_1`. */
    readonly subjects: readonly string[];
    readonly without: readonly AuditAction[];
    readonly limit: number;
  },
): Promise<readonly AuditSummary[]> {
  return db.query<AuditSummary>(
    `select a.id, (extract(epoch from a.recorded_at) * 1000000)::bigint as "recordedMicros",
            a.actor_name as "actorName", a.actor_role as "actorRole", a.action,
            a.subject_kind as "subjectKind", a.subject_id as "subjectId", a.reason, a.result,
            case when a.result = 'requested' then a.id else a.attempt end as "attempt"
       from audit a
      where a.id in (
              select id from audit where order_key = $1
              union all
              select f.id
                from unnest($2::text[]) as s (subject)
                join audit f on f.subject_kind = split_part(s.subject, ':', 1)
                            and f.subject_id = substr(s.subject, strpos(s.subject, ':') + 1))
        and a.action <> all ($3::text[])
      order by a.id desc
      limit $4`,
    [orderKey ?? null, subjects, without, limit],
  );
}

/** Replaces the free text of the entry at a place in the table; nothing else of it can change. */
export async function redactEntry(
  db: Queryable,
  entry: { readonly tid: string; readonly reason: string | null; readonly detail: string },
): Promise<void> {
  await db.query('select redact_audit(a.id, $2, $3::jsonb) from audit a where a.ctid = $1::tid', [
    entry.tid,
    entry.reason,
    entry.detail,
  ]);
}

const OPEN = `and a.result = 'requested'
        and not exists (select from audit e where e.attempt = a.id)`;

/** Attempts of these actions without a result that began within a span of time, oldest first. */
export function readOpenAttempts(
  db: Queryable,
  {
    actions,
    olderThanMs,
    withinMs,
    limit,
  }: {
    readonly actions: readonly AuditAction[];
    readonly olderThanMs: number;
    readonly withinMs: number;
    readonly limit: number;
  },
): Promise<readonly AuditRow[]> {
  return db.query<AuditRow>(
    `select ${COLUMNS}
       from audit a
      where a.action = any ($1::text[])
        and a.recorded_at < statement_timestamp() - $2 * interval '1 millisecond'
        and a.recorded_at > statement_timestamp() - $3 * interval '1 millisecond'
        ${OPEN}
      order by a.id
      limit $4`,
    [actions, olderThanMs, withinMs, limit],
  );
}

interface AttemptsOn {
  /** Actions that exclude each other, in the same order everywhere. */
  readonly actions: readonly AuditAction[];
  readonly subject: AuditSubject;
}

/** Makes other attempts at the same wait for this transaction, so that they find its entry. */
export async function lockAttemptsOn(
  tx: Queryable,
  { actions, subject }: AttemptsOn,
): Promise<void> {
  await lockByName(tx, `audit attempts ${actions.join(' ')} ${subject.kind} ${subject.id}`);
}

/** The number of an open attempt at one of the actions on a subject. */
export async function readOpenAttemptOn(
  tx: Queryable,
  { actions, subject }: AttemptsOn,
): Promise<number | undefined> {
  const rows = await tx.query<{ id: number }>(
    `select a.id
       from audit a
      where a.subject_kind = $1 and a.subject_id = $2 and a.action = any ($3::text[])
        ${OPEN}
      order by a.id
      limit 1`,
    [subject.kind, subject.id, actions],
  );
  return rows[0]?.id;
}

/** The number of the latest attempt that began within a span of time and has no result, or an unknown one. */
export async function readUncertainAttemptOn(
  tx: Queryable,
  { actions, subject }: AttemptsOn,
  withinMs: number,
): Promise<number | undefined> {
  const rows = await tx.query<{ id: number }>(
    `select a.id
       from audit a
      where a.subject_kind = $1 and a.subject_id = $2 and a.action = any ($3::text[])
        and a.result = 'requested'
        and a.recorded_at > statement_timestamp() - $4 * interval '1 millisecond'
        and not exists (select from audit e where e.attempt = a.id and e.result <> 'unknown')
      order by a.id desc
      limit 1`,
    [subject.kind, subject.id, actions, withinMs],
  );
  return rows[0]?.id;
}

/** Makes others who close the attempt wait for this transaction, so that they find its entry. */
export async function lockAttempt(tx: Queryable, id: number): Promise<void> {
  await lockByName(tx, `audit attempt ${id}`);
}

/** An entry `requested`, and what is known of its end. */
export interface AttemptRow extends AuditRow {
  readonly isEnded: boolean;
  readonly mayBeRunning: boolean;
}

/** The entry `requested` of this number. @param runningForMs how long a process may carry it out */
export async function readAttempt(
  tx: Queryable,
  id: number,
  runningForMs: number,
): Promise<AttemptRow | undefined> {
  const [row] = await tx.query<AttemptRow>(
    `select ${COLUMNS},
            exists (select from audit e where e.attempt = a.id) as "isEnded",
            a.recorded_at > statement_timestamp() - $2 * interval '1 millisecond'
              as "mayBeRunning"
       from audit a
      where a.id = $1 and a.result = 'requested'`,
    [id, runningForMs],
  );
  return row;
}

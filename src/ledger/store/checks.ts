/** Statements on when resources are checked, and on what a check records, for reconciliation. */
import { EXCESS_CLASSES } from '../../alerts/domain/rules/excesses.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FindingClass } from '../domain/findings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

/** What the ledger has of a resource, as far as checking it needs. */
export interface CheckedRow extends ResourceRef {
  readonly kind: ResourceKind;
  readonly paymentId: string | null;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly versionMicros: number | null;
  readonly isContradicted: boolean;
  readonly isUncertain: boolean;
  /** Names of the ledger's uncertainties. */
  readonly uncertainties: readonly string[];
  readonly firstSeenAt: Date;
  /** For how long its order has shown an excess as it does now; null where it shows none. */
  readonly excessForMs: number | null;
  /** Since an event about it was not applied and no response has shown what it did; null where there is none. */
  readonly behindForMs: number | null;
  /** The version of the object in that event; null where it carried none. */
  readonly behindMicros: number | null;
}

/** Of `r`. `classes` is the parameter with the classes of excesses. */
function excessForMs(classes: string): string {
  return `(select (extract(epoch from statement_timestamp() - max(f.updated_at)) * 1000)::bigint
             from findings f
            where f.class = any (${classes}::text[]) and f.subject = 'order:' || r.order_key
              and f.state = 'open' and f.accepted_at is null) as "excessForMs"`;
}

/** Of `r`. */
const BEHIND = `(extract(epoch from statement_timestamp() - r.behind_since) * 1000)::bigint as "behindForMs",
            r.behind_micros as "behindMicros"`;

/** Without a lock. @returns undefined when the ledger does not have it */
export async function readChecked(
  tx: Queryable,
  { kind, id }: ResourceRef,
): Promise<CheckedRow | undefined> {
  const rows = await tx.query<CheckedRow>(
    `select kind, id, payment_id as "paymentId", status, stage, currency,
            amount_minor as "amountMinor", captured_minor as "capturedMinor",
            version_micros as "versionMicros", contradiction is not null as "isContradicted",
            uncertainties <> '{}' as "isUncertain", uncertainties, first_seen_at as "firstSeenAt",
            ${BEHIND}, ${excessForMs('$3')}
       from resources r
      where kind = $1 and id = $2`,
    [kind, id, EXCESS_CLASSES],
  );
  return rows[0];
}

/** When the request was sent; the parameter has how many milliseconds ago. */
const SENT_AT = `statement_timestamp() - $4 * interval '1 millisecond'`;

/**
 * Of `r`, whether another transaction requested a check after that: such a row is due since then, while a claimed
 * one is due at the end of its lease.
 */
const IS_WANTED_SINCE = `
  (r.is_check_wanted and r.next_check_at > ${SENT_AT} and r.next_check_at <= statement_timestamp()
   and r.next_check_at <> now()) is true`;

/**
 * Records that the service responded about a resource, and when to check it next; null for never. A check that
 * was requested after the request was sent stays due: the response may be older than what requested it.
 * @param isWanted whether the check stays wanted, because the response leaves the ledger behind
 * @param sentMsAgo when the request was sent, by a monotonic clock: clocks of two machines differ
 */
export async function writeChecked(
  tx: Queryable,
  { kind, id }: ResourceRef,
  check: {
    readonly nextCheckAt: Date | null;
    readonly isWanted: boolean;
    readonly sentMsAgo: number;
  },
): Promise<void> {
  await tx.query(
    `update resources r
        set next_check_at = case when ${IS_WANTED_SINCE} then r.next_check_at else $3 end,
            is_check_wanted = ${IS_WANTED_SINCE} or $5,
            behind_since = case when ${IS_WANTED_SINCE} or $5 then r.behind_since end,
            behind_micros = case when ${IS_WANTED_SINCE} or $5 then r.behind_micros end,
            retrieved_at = ${SENT_AT}
      where kind = $1 and id = $2`,
    [kind, id, check.nextCheckAt, Math.ceil(check.sentMsAgo), check.isWanted],
  );
}

/** Records on a resource that a finding about it is open, so that the next check closes it. */
export async function linkFinding(
  tx: Queryable,
  { kind, id }: ResourceRef,
  findingClass: FindingClass,
): Promise<void> {
  await tx.query(
    `update resources
        set open_findings = array_append(array_remove(open_findings, $3), $3)
      where kind = $1 and id = $2`,
    [kind, id, findingClass],
  );
}

/** A row that is due for a check. */
export interface DueRow extends CheckedRow {
  readonly isWanted: boolean;
}

/**
 * Claims rows that are due, wanted ones or the others. They are due again after a lease, in case the
 * process dies; rows that another process has locked are skipped.
 */
export function claimDue(
  db: Queryable,
  request: {
    readonly isWanted: boolean;
    readonly now: Date;
    readonly leaseUntil: Date;
    readonly limit: number;
  },
): Promise<readonly DueRow[]> {
  return db.query<DueRow>(
    `with due as (
       select kind, id from resources
        where next_check_at <= $1 and is_check_wanted = $2
        order by next_check_at
        limit $3
          for update skip locked
     )
     update resources r
        set next_check_at = $4
       from due
      where r.kind = due.kind and r.id = due.id
      returning r.kind, r.id, r.payment_id as "paymentId", r.status, r.stage, r.currency,
                r.amount_minor as "amountMinor", r.captured_minor as "capturedMinor",
                r.version_micros as "versionMicros", r.contradiction is not null as "isContradicted",
                r.uncertainties <> '{}' as "isUncertain", r.uncertainties, r.first_seen_at as "firstSeenAt",
                r.is_check_wanted as "isWanted", ${BEHIND}, ${excessForMs('$5')}`,
    [request.now, request.isWanted, request.limit, request.leaseUntil, EXCESS_CLASSES],
  );
}

/**
 * Sets the next checks of rows that settled meanwhile. One that is no longer settled as it was judged keeps
 * its lease, and is judged again when that ends: without its next check, nobody would look at it again. So does
 * one that another transaction has locked: to wait for some while holding others could deadlock.
 */
export async function writeNextChecks(
  db: Queryable,
  checks: readonly (Pick<CheckedRow, 'kind' | 'id' | 'status'> & {
    readonly nextCheckAt: Date | null;
  })[],
): Promise<void> {
  await db.query(
    `with judged as (
       select u.kind, u.id, u.at
         from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as u (kind, id, status, at)
         join resources r on r.kind = u.kind and r.id = u.id and r.status = u.status
        where r.uncertainties = '{}' and r.contradiction is null and not r.is_check_wanted
          for update of r skip locked
     )
     update resources r
        set next_check_at = judged.at
       from judged
      where r.kind = judged.kind and r.id = judged.id`,
    [
      checks.map(({ kind }) => kind),
      checks.map(({ id }) => id),
      checks.map(({ status }) => status),
      checks.map(({ nextCheckAt }) => nextCheckAt),
    ],
  );
}

/**
 * Releases claimed rows; one that was rescheduled since keeps its time. One that another transaction has locked
 * keeps its lease, as above.
 */
export async function releaseDue(
  db: Queryable,
  rows: readonly ResourceRef[],
  { leaseUntil, now }: { readonly leaseUntil: Date; readonly now: Date },
): Promise<void> {
  await db.query(
    `with claimed as (
       select r.kind, r.id
         from unnest($1::text[], $2::text[]) as u (kind, id)
         join resources r on r.kind = u.kind and r.id = u.id and r.next_check_at = $3
          for update of r skip locked
     )
     update resources r
        set next_check_at = $4
       from claimed
      where r.kind = claimed.kind and r.id = claimed.id`,
    [rows.map(({ kind }) => kind), rows.map(({ id }) => id), leaseUntil, now],
  );
}

/** Postpones a check, and leaves it wanted or not. */
export async function postponeCheck(
  db: Queryable,
  { kind, id }: ResourceRef,
  nextCheckAt: Date,
): Promise<void> {
  await db.query('update resources set next_check_at = $3 where kind = $1 and id = $2', [
    kind,
    id,
    nextCheckAt,
  ]);
}

/** Whether any check is due at a time or before it. @param kind undefined for every kind */
export async function hasChecksUntil(
  db: Queryable,
  at: Date,
  kind: ResourceKind | undefined,
): Promise<boolean> {
  const rows = await db.query<{ isDue: boolean }>(
    `select exists (
       select from resources where next_check_at <= $1 and ($2::text is null or kind = $2)
     ) as "isDue"`,
    [at, kind ?? null],
  );
  return rows[0]?.isDue === true;
}

/** A count stops here, and then means "this many or more". */
const COUNTED_ROWS = 10_000;

/** Counts resources that are due for a check, by the index on that time. */
export async function measureDueChecks(db: Queryable): Promise<number> {
  const rows = await db.query<{ due: number }>(
    `select count(*) as due
       from (select from resources where next_check_at <= statement_timestamp() limit $1) d`,
    [COUNTED_ROWS],
  );
  return rows[0]?.due ?? 0;
}

/** The statement that finds overdue money and marks its resources. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Term } from '../domain/overdue.ts';

/** A resource past its term. */
export interface OverdueRow {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly orderKey: string | null;
  readonly paymentId: string | null;
  /** The reference of a payout. */
  readonly reference: string | null;
  /** As in Term. */
  readonly account: string | null;
  /** When its term began (domain/overdue.ts); else when it was created, or first seen if no body carries that. */
  readonly since: Date;
  readonly days: number;
}

/** The time of a snapshot, microseconds since 1970. */
const TIME = (snapshot: string) =>
  `coalesce((${snapshot}.content ->> 'versionMicros')::bigint, ${snapshot}.observed_micros)`;

/**
 * Of `r`, the first snapshot after the last one with a status that has not the term `t`; null: all have it. Where
 * none is later, both have the same time.
 */
const FIRST_OF_TERM = `(
  select coalesce((select min(${TIME('s')})
                     from snapshots s
                    where s.kind = r.kind and s.resource_id = r.id
                      and s.content ->> 'status' = any (t.statuses) and ${TIME('s')} > other.micros),
                  other.micros)
    from (select max(${TIME('o')}) as micros
            from snapshots o
           where o.kind = r.kind and o.resource_id = r.id
             and (o.content ->> 'status' <> all (t.statuses) or o.content ->> 'stage' = 'pre_dispute')) other)`;

/**
 * Marks up to `limit` resources past their term as having an open finding `overdue`, and locks them. The
 * caller opens the findings; the observation that ends a term closes its finding. Rows that are being
 * applied are skipped until the next run.
 *
 * When the term began is read only of resources that are older than it. Snapshots are compared by their times
 * alone, of which the order is that of their keys, except for those without a version.
 *
 * No status with a term is final, and what is not final has a next check, so the index of next checks has
 * all of them. An index on the status would cost more, at every event.
 * @returns the resources marked now
 */
export function markOverdue(
  tx: Queryable,
  request: { readonly terms: readonly Term[]; readonly now: Date; readonly limit: number },
): Promise<readonly OverdueRow[]> {
  return tx.query<OverdueRow>(
    `with terms as (
       select kind, account, statuses, days
         from jsonb_to_recordset($1::jsonb) as t (kind text, account text, statuses text[], days int)
     ), due as (
       select r.kind, r.id, r.status, r.stage, r.currency, r.amount_minor, r.order_key, r.payment_id,
              r.reference, t.account, t.days, term.since
         from terms t
         join resources r on r.kind = t.kind and r.status = any (t.statuses)
        cross join lateral (
          select coalesce(timestamptz 'epoch' + ${FIRST_OF_TERM} * interval '1 microsecond',
                          r.created_at, r.first_seen_at) as since
          offset 0) term
        where r.posts and r.stage is distinct from 'pre_dispute'
          and coalesce(r.created_at, r.first_seen_at) < $2::timestamptz - t.days * interval '1 day'
          and term.since < $2::timestamptz - t.days * interval '1 day'
          and r.next_check_at is not null and not 'overdue' = any (r.open_findings)
        order by r.kind, r.id
        limit $3
          for update of r skip locked
     ), marked as (
       update resources r
          set open_findings = array_append(r.open_findings, 'overdue')
         from due
        where r.kind = due.kind and r.id = due.id
     )
     select kind, id, status, stage, currency, amount_minor as "amountMinor",
            order_key as "orderKey", payment_id as "paymentId", reference, account, since, days
       from due`,
    [JSON.stringify(request.terms), request.now.toISOString(), request.limit],
  );
}

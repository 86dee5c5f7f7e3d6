/** The statements that find overdue money and mark its resources. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Term } from '../domain/overdue.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

/** A resource that may be past its term. */
export interface TermRow {
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
  readonly days: number;
  /** When it was created, or first seen if no body carries that. */
  readonly createdAt: Date;
}

const PAST_TERM = `
       from jsonb_to_recordset($1::jsonb)
              as t (kind text, account text, statuses text[], days int, "begunBefore" timestamptz)
       join resources r on r.kind = t.kind and r.status = any (t.statuses)
      where r.posts and r.stage is distinct from 'pre_dispute'
        and coalesce(r.term_since, r.created_at, r.first_seen_at) < t."begunBefore"
        and r.next_check_at is not null and not 'overdue' = any (r.open_findings)`;

/** A term that began before this time is over. */
export interface TermEnd extends Term {
  readonly begunBefore: Date;
}

/**
 * Reads up to `limit` resources past their term without an open finding `overdue`, by the stored beginning of the
 * term, after a resource in the order of kind and id. Where none is stored, a version before migration 00074 wrote
 * the row: those that are older than the term are among the rows.
 *
 * No status with a term is final, and what is not final has a next check, so the index of next checks has
 * all of them. An index on the status would cost more, at every event.
 */
export function readPastTerm(
  db: Queryable,
  request: {
    readonly terms: readonly TermEnd[];
    readonly after: ResourceRef | undefined;
    readonly limit: number;
  },
): Promise<readonly ResourceRef[]> {
  const { terms, after, limit } = request;
  return db.query<ResourceRef>(
    `select r.kind, r.id ${PAST_TERM}
        and ($2::text is null or (r.kind, r.id) > ($2, $3))
      order by r.kind, r.id
      limit $4`,
    [JSON.stringify(terms), after?.kind ?? null, after?.id ?? null, limit],
  );
}

/** Locks those that are still past their term. Rows that are being applied are skipped until the next run. */
export function lockPastTerm(
  tx: Queryable,
  request: { readonly terms: readonly TermEnd[]; readonly refs: readonly ResourceRef[] },
): Promise<readonly TermRow[]> {
  return tx.query<TermRow>(
    `select r.kind, r.id, r.status, r.stage, r.currency, r.amount_minor as "amountMinor",
            r.order_key as "orderKey", r.payment_id as "paymentId", r.reference, t.account, t.days,
            coalesce(r.created_at, r.first_seen_at) as "createdAt" ${PAST_TERM}
        and (r.kind, r.id) in (select kind, id from unnest($2::text[], $3::text[]) as u (kind, id))
      order by r.kind, r.id
        for update of r skip locked`,
    [
      JSON.stringify(request.terms),
      request.refs.map(({ kind }) => kind),
      request.refs.map(({ id }) => id),
    ],
  );
}

/** When the term of a resource began, and whether it is over. */
export interface TermUpdate extends ResourceRef {
  readonly since: string;
  readonly isOverdue: boolean;
}

/**
 * Stores the beginnings of terms, and marks the resources past theirs as having an open finding `overdue`. The
 * caller holds the rows and opens the findings; the observation that ends a term closes its finding.
 */
export async function markOverdue(tx: Queryable, updates: readonly TermUpdate[]): Promise<void> {
  await tx.query(
    `update resources r
        set term_since = u.since,
            open_findings = case when u.is_overdue then array_append(r.open_findings, 'overdue')
                                 else r.open_findings end
       from unnest($1::text[], $2::text[], $3::timestamptz[], $4::boolean[])
              as u (kind, id, since, is_overdue)
      where r.kind = u.kind and r.id = u.id`,
    [
      updates.map(({ kind }) => kind),
      updates.map(({ id }) => id),
      updates.map(({ since }) => since),
      updates.map(({ isOverdue }) => isOverdue),
    ],
  );
}

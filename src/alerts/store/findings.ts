/** Statements that read findings, and what they are about, for alerts. */
import type { Queryable } from '../../platform/db/database.ts';

export interface StoredFinding {
  readonly class: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** How long it has been open. */
  readonly ageMs: number;
  /** Inbox number of the event that opened or changed it, if one did. */
  readonly causedBy?: number | null | undefined;
  /** Of excesses that may alert: whether the service confirmed them. */
  readonly isConfirmed?: boolean;
}

/**
 * Open findings without an alert that are not accepted and past their grace period. They are locked,
 * so that none is closed before its alert is written. Findings that another transaction is changing are
 * left to that transaction.
 */
export function lockUnalerted(
  tx: Queryable,
  graces: readonly { readonly class: string; readonly graceMs: number }[],
  limit: number,
): Promise<readonly StoredFinding[]> {
  return tx.query<StoredFinding>(
    `select f.class, f.subject, f.detail, f.opened_by_event as "causedBy",
            (extract(epoch from statement_timestamp() - f.opened_at) * 1000)::bigint as "ageMs"
       from unnest($1::text[], $2::bigint[]) as g (class, grace_ms)
       join findings f on f.class = g.class
      where f.state = 'open' and f.accepted_at is null
        and f.opened_at <= statement_timestamp() - g.grace_ms * interval '1 millisecond'
        and not exists (
              select from alerts a
               where a.subject = f.subject and a.rule = f.class and a.state <> 'resolved')
      order by f.id
      limit $3
        for update of f skip locked`,
    [graces.map((grace) => grace.class), graces.map(({ graceMs }) => graceMs), limit],
  );
}

/**
 * Open excesses of orders that nobody accepted, have no alert, and are confirmed or have waited for
 * too long. What they show counts from when it was first shown. Locked as above.
 */
export function lockAwaitingExcesses(
  tx: Queryable,
  request: {
    readonly classes: readonly string[];
    /** Only responses to requests sent this long after the last change of the finding count. */
    readonly settlingMs: number;
    readonly waitMs: number;
    readonly limit: number;
  },
): Promise<readonly StoredFinding[]> {
  return tx.query<StoredFinding>(
    `select f.class, f.subject, f.detail, f.opened_by_event as "causedBy",
            parts.confirmed as "isConfirmed",
            (extract(epoch from statement_timestamp() - f.opened_at) * 1000)::bigint as "ageMs"
       from findings f
      cross join lateral (
              select coalesce(bool_and(
                       coalesce(r.retrieved_at >= f.updated_at + $2 * interval '1 millisecond', false)
                     ), false) as confirmed
                from resources r
               where r.order_key = substr(f.subject, length('order:') + 1)) parts
      where f.class = any ($1::text[]) and f.state = 'open' and f.accepted_at is null
        and (parts.confirmed
             or f.updated_at <= statement_timestamp() - $3 * interval '1 millisecond')
        and not exists (
              select from alerts a
               where a.subject = f.subject and a.rule = f.class and a.state <> 'resolved')
      order by f.id
      limit $4
        for update of f skip locked`,
    [request.classes, request.settlingMs, request.waitMs, request.limit],
  );
}

export interface StoredPlace {
  readonly kind: string;
  readonly id: string;
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
}

/** Where resources belong; of those that the ledger does not have, nothing. */
export function readPlaces(
  db: Queryable,
  resources: readonly { readonly kind: string; readonly id: string }[],
): Promise<readonly StoredPlace[]> {
  return db.query<StoredPlace>(
    `select kind, id, payment_id as "paymentId", order_key as "orderKey", status, currency,
            amount_minor as "amountMinor"
       from resources
      where (kind, id) in (select kind, id from unnest($1::text[], $2::text[]) as u (kind, id))`,
    [resources.map(({ kind }) => kind), resources.map(({ id }) => id)],
  );
}

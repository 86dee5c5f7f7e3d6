/**
 * Statements on deadlines with reminders. The caller holds the lock on the resource; locks are acquired
 * in that order everywhere.
 */
import { describeReason } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Described } from '../domain/facts.ts';

export interface DeadlineRef {
  readonly kind: ResourceKind;
  readonly id: string;
}

export interface PlannedDeadline extends DeadlineRef {
  readonly deadlineAt: Date;
  /** The next threshold. */
  readonly nextAt: Date;
}

function refColumns(refs: readonly DeadlineRef[]): readonly (readonly string[])[] {
  return [refs.map(({ kind }) => kind), refs.map(({ id }) => id)];
}

/** Plans reminders. An existing plan for the same deadline stays, so that no reminder is repeated. */
export async function planDeadlines(
  tx: Queryable,
  planned: readonly PlannedDeadline[],
): Promise<void> {
  await tx.query(
    `insert into alert_deadlines as d (kind, resource_id, deadline_at, next_at)
     select kind, resource_id, deadline_at, next_at
       from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
            as u (kind, resource_id, deadline_at, next_at)
      order by kind, resource_id
     on conflict (kind, resource_id) do update
        set deadline_at = excluded.deadline_at, next_at = excluded.next_at
      where d.deadline_at <> excluded.deadline_at`,
    [
      ...refColumns(planned),
      planned.map(({ deadlineAt }) => deadlineAt.toISOString()),
      planned.map(({ nextAt }) => nextAt.toISOString()),
    ],
  );
}

/** Advances plans to their next thresholds. */
export async function advanceDeadlines(
  tx: Queryable,
  planned: readonly Omit<PlannedDeadline, 'deadlineAt'>[],
): Promise<void> {
  await tx.query(
    `update alert_deadlines d
        set next_at = u.next_at
       from unnest($1::text[], $2::text[], $3::timestamptz[]) as u (kind, resource_id, next_at)
      where d.kind = u.kind and d.resource_id = u.resource_id`,
    [...refColumns(planned), planned.map(({ nextAt }) => nextAt.toISOString())],
  );
}

export async function dropDeadlines(tx: Queryable, refs: readonly DeadlineRef[]): Promise<void> {
  await tx.query(
    `delete from alert_deadlines
      where (kind, resource_id) in (select kind, id from unnest($1::text[], $2::text[]) as u (kind, id))`,
    refColumns(refs),
  );
}

/** The deadlines that are due, longest due first. */
export function readDueRefs(
  db: Queryable,
  request: { readonly now: Date; readonly limit: number },
): Promise<readonly DeadlineRef[]> {
  return db.query<DeadlineRef>(
    `select kind, resource_id as id from alert_deadlines
      where next_at <= $1
      order by next_at, kind, resource_id
      limit $2`,
    [request.now.toISOString(), request.limit],
  );
}

/**
 * Locks those of the resources with deadlines that are still due. Locked resources are skipped: the
 * transaction that changes them plans again, and the next run follows within a minute.
 */
export function lockDue(
  tx: Queryable,
  refs: readonly DeadlineRef[],
  now: Date,
): Promise<readonly DeadlineRef[]> {
  return tx.query<DeadlineRef>(
    `select r.kind, r.id
       from alert_deadlines d
       join resources r on r.kind = d.kind and r.id = d.resource_id
      where (d.kind, d.resource_id) in (select kind, id from unnest($1::text[], $2::text[]) as u (kind, id))
        and d.next_at <= $3
      order by r.kind, r.id
        for no key update of r skip locked`,
    [...refColumns(refs), now.toISOString()],
  );
}

/** A deadline with the resource that it is about. */
export interface DueDeadline extends Described {
  readonly deadlineMs: number;
}

/**
 * Reads the deadlines of locked resources that are still due. A separate statement, because another
 * scheduler may have sent the reminder just before the lock was acquired.
 */
export async function readDue(
  tx: Queryable,
  refs: readonly DeadlineRef[],
  now: Date,
): Promise<readonly DueDeadline[]> {
  const rows = await tx.query<DueRow>(
    `select r.kind, r.id, d.deadline_at as "deadlineAt", r.status, r.stage, r.currency,
            r.amount_minor as "amountMinor", r.payment_id as "paymentId", r.reason,
            r.reason_code as "reasonCode",
            case when r.order_key like 'order:%' then substr(r.order_key, 7) end as "orderId"
       from alert_deadlines d
       join resources r on r.kind = d.kind and r.id = d.resource_id
      where (d.kind, d.resource_id) in (select kind, id from unnest($1::text[], $2::text[]) as u (kind, id))
        and d.next_at <= $3`,
    [...refColumns(refs), now.toISOString()],
  );
  return rows.map(({ deadlineAt, reason, reasonCode, ...row }) => ({
    ...row,
    reason: describeReason(row.kind, row.status, { reason, reasonCode }),
    deadlineMs: deadlineAt.getTime(),
    status: row.status ?? undefined,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor ?? undefined,
    orderId: row.orderId ?? undefined,
    paymentId: row.paymentId ?? undefined,
  }));
}

interface DueRow extends DeadlineRef {
  readonly deadlineAt: Date;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly reason: string | null;
  readonly reasonCode: string | null;
}

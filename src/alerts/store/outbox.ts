/** Statements on what waits to be said, and on the pace at which it is. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Severity } from '../domain/alert.ts';

/**
 * Takes the pace until the transaction ends.
 * @returns false when it is not yet time, or somebody else has it
 */
export async function takePace(tx: Queryable, now: Date): Promise<boolean> {
  const rows = await tx.query(
    `select next_take_at from alert_pace where next_take_at <= $1 for update skip locked`,
    [now.toISOString()],
  );
  return rows.length > 0;
}

/** Sets when the next take may be. The caller has the pace. */
export async function setPace(tx: Queryable, nextTakeAt: Date): Promise<void> {
  await tx.query('update alert_pace set next_take_at = $1', [nextTakeAt.toISOString()]);
}

/** One row of the outbox with its alert as it is now. */
export interface TakenRow {
  readonly alertId: number;
  readonly occasion: 'opened' | 'reminder' | 'resolved';
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly sentence: string;
  readonly nextStep: string;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly deadlineAt: Date | null;
  readonly openedAt: Date;
  readonly resolvedAt: Date | null;
  readonly snoozedUntil: Date | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
}

/** Takes up to `limit` rows out of the outbox, oldest first. The caller has the pace, so nobody else does. */
export function takeOutbox(tx: Queryable, limit: number): Promise<readonly TakenRow[]> {
  return tx.query<TakenRow>(
    `with taken as (
       delete from alert_outbox
        where id = any (array(select id from alert_outbox order by id limit $1))
       returning id, alert_id, occasion
     )
     select a.id as "alertId", t.occasion, a.rule, a.subject, a.severity, a.sentence,
            a.next_step as "nextStep", a.order_id as "orderId", a.payment_id as "paymentId",
            a.deadline_at as "deadlineAt", a.opened_at as "openedAt",
            a.resolved_at as "resolvedAt", a.snoozed_until as "snoozedUntil",
            a.detail ->> 'currency' as currency,
            case when m.minor ~ '^\\d{1,15}$' then m.minor::bigint end as "amountMinor"
       from taken t
       join alerts a on a.id = t.alert_id
      cross join lateral (
        select coalesce(a.detail ->> 'amountMinor', a.detail ->> 'capturableMinor') as minor) m
      order by t.id`,
    [limit],
  );
}

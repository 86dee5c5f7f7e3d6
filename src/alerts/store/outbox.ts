/** Statements on the outbox of notifications and on when it may be dispatched. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Severity } from '../domain/alert.ts';

/**
 * Claims the right to dispatch until the transaction ends. A time later than `latest` was stored under a wrong
 * clock, and prevents no claim.
 * @returns false when it is not yet time, or another worker has the claim
 */
export async function claimDispatch(
  tx: Queryable,
  { now, latest }: { readonly now: Date; readonly latest: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `select next_dispatch_at
       from dispatch_state
      where next_dispatch_at <= $1 or next_dispatch_at > $2
        for update skip locked`,
    [now.toISOString(), latest.toISOString()],
  );
  return rows.length > 0;
}

/** Sets the time of the next dispatch. The caller holds the claim. */
export async function setNextDispatch(tx: Queryable, nextDispatchAt: Date): Promise<void> {
  await tx.query('update dispatch_state set next_dispatch_at = $1', [nextDispatchAt.toISOString()]);
}

/** A row of the outbox with the current state of its alert. */
export interface OutboxRow {
  readonly alertId: number;
  readonly type: 'opened' | 'reminder' | 'resolved';
  /** When it was written; the same for all rows of one statement. */
  readonly writtenAt: Date;
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
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Removes and returns up to `limit` rows, oldest first. The caller holds the claim, so no other worker does. */
export function claimOutbox(tx: Queryable, limit: number): Promise<readonly OutboxRow[]> {
  return tx.query<OutboxRow>(
    `with claimed as (
       delete from alert_outbox
        where id = any (array(select id from alert_outbox order by id limit $1))
       returning id, alert_id, type, created_at
     )
     select a.id as "alertId", c.type, c.created_at as "writtenAt", a.rule, a.subject, a.severity, a.sentence,
            a.next_step as "nextStep", a.order_id as "orderId", a.payment_id as "paymentId",
            a.deadline_at as "deadlineAt", a.opened_at as "openedAt",
            a.resolved_at as "resolvedAt", a.snoozed_until as "snoozedUntil", a.detail
       from claimed c
       join alerts a on a.id = c.alert_id
      order by c.id`,
    [limit],
  );
}

/** Statements on alerts and their notifications. Rows are written in the order of their keys. */
import type { Queryable } from '../../platform/db/database.ts';
import type {
  Alert,
  AlertKey,
  KeptAlert,
  NewAlert,
  ResolvedAlert,
  SubjectAlerts,
  UnresolvedAlert,
} from '../domain/alert.ts';

/** Why an alert notifies. */
export type OutboxType = 'opened' | 'reminder' | 'resolved';

/**
 * Locks and reads the unresolved alerts of subjects and rules, in the order of their keys.
 *
 * The keys lead to the alerts. With `(subject, rule) in (select …)`, a plan that was made while there were few alerts
 * compares each unresolved alert with each key until statistics are made (docs/decisions/0178-plans-for-small-tables.md).
 */
export function lockUnresolved(
  tx: Queryable,
  evaluated: readonly Pick<SubjectAlerts, 'subject' | 'rules'>[],
): Promise<readonly UnresolvedAlert[]> {
  const checked = evaluated.flatMap(({ subject, rules }) =>
    rules.map((rule) => ({ subject, rule })),
  );
  return tx.query<UnresolvedAlert>(
    `select a.id, a.rule, a.subject, a.variant, a.severity, a."isAcknowledged", a."isSnoozed"
       from (select distinct subject, rule
               from unnest($1::text[], $2::text[]) as u (subject, rule)
              order by subject, rule) wanted
      cross join lateral (
        select id, rule, subject, variant, severity, acknowledged_at is not null as "isAcknowledged",
               snoozed_until is not null as "isSnoozed"
          from alerts
         where subject = wanted.subject and rule = wanted.rule and state <> 'resolved'
         order by variant
           for update) a`,
    [checked.map(({ subject }) => subject), checked.map(({ rule }) => rule)],
  );
}

/** Those of the keys that have an alert, in any state; the caller holds the locks of their subjects. */
export function listWritten(
  tx: Queryable,
  keys: readonly AlertKey[],
): Promise<readonly AlertKey[]> {
  return tx.query<AlertKey>(
    `select wanted.rule, wanted.subject, wanted.variant
       from (select distinct subject, rule, variant
               from unnest($1::text[], $2::text[], $3::text[]) as u (subject, rule, variant)) wanted
      cross join lateral (
        select from alerts
         where subject = wanted.subject and rule = wanted.rule and variant = wanted.variant
         limit 1) written
      limit $4`,
    [
      keys.map(({ subject }) => subject),
      keys.map(({ rule }) => rule),
      keys.map(({ variant }) => variant),
      keys.length,
    ],
  );
}

/** The columns that a rule states, with their types. */
const STATED_COLUMNS = {
  rule: 'text',
  subject: 'text',
  variant: 'text',
  severity: 'text',
  sentence: 'text',
  next_step: 'text',
  detail: 'jsonb',
  order_id: 'text',
  payment_id: 'text',
  deadline_at: 'timestamptz',
} as const;

const STATED_NAMES = Object.keys(STATED_COLUMNS).join(', ');

function statedRows(firstParameter: number): string {
  return Object.values(STATED_COLUMNS)
    .map((type, place) => `$${firstParameter + place}::${type}[]`)
    .join(', ');
}

function statedValues(alerts: readonly Alert[]): readonly unknown[] {
  return [
    alerts.map(({ rule }) => rule),
    alerts.map(({ subject }) => subject),
    alerts.map(({ variant }) => variant),
    alerts.map(({ severity }) => severity),
    alerts.map(({ sentence }) => sentence),
    alerts.map(({ nextStep }) => nextStep),
    alerts.map(({ detail }) => JSON.stringify(detail)),
    alerts.map(({ orderId }) => orderId ?? null),
    alerts.map(({ paymentId }) => paymentId ?? null),
    alerts.map(({ deadlineAt }) => deadlineAt?.toISOString() ?? null),
  ];
}

/**
 * Inserts alerts: open, or resolved from the start. If another transaction has opened one with the same
 * key, that one stays and none is inserted.
 * @returns the ids of the inserted alerts
 */
export async function insertAlerts(
  tx: Queryable,
  alerts: readonly NewAlert[],
  state: 'open' | 'resolved',
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `insert into alerts (${STATED_NAMES}, opened_by_event, state, resolved_at)
     select ${STATED_NAMES}, event, $1::text, case when $1::text = 'resolved' then statement_timestamp() end
       from unnest($2::bigint[], ${statedRows(3)}) as u (event, ${STATED_NAMES})
      order by subject, rule, variant
     on conflict (subject, rule, variant) where state <> 'resolved' do nothing
     returning id`,
    [state, alerts.map(({ causedBy }) => causedBy), ...statedValues(alerts)],
  );
  return rows.map(({ id }) => id);
}

/** Updates alerts that stay active; an unchanged one is not written. */
export async function updateAlerts(tx: Queryable, kept: readonly KeptAlert[]): Promise<void> {
  await tx.query(
    `update alerts a
        set severity = u.severity, sentence = u.sentence, next_step = u.next_step,
            detail = u.detail, order_id = u.order_id, payment_id = u.payment_id,
            deadline_at = u.deadline_at, updated_at = statement_timestamp()
       from unnest($1::bigint[], ${statedRows(2)}) as u (id, ${STATED_NAMES})
      where a.id = u.id
        and (a.severity, a.sentence, a.next_step, a.detail, a.order_id, a.payment_id, a.deadline_at)
            is distinct from
            (u.severity, u.sentence, u.next_step, u.detail, u.order_id, u.payment_id, u.deadline_at)`,
    [kept.map(({ id }) => id), ...statedValues(kept.map(({ alert }) => alert))],
  );
}

/** Resolves alerts when their condition no longer holds. */
export async function resolveAlerts(
  tx: Queryable,
  alerts: readonly Pick<ResolvedAlert, 'id' | 'causedBy'>[],
): Promise<void> {
  await tx.query(
    `update alerts a
        set state = 'resolved', resolved_at = statement_timestamp(),
            updated_at = statement_timestamp(), resolved_by_event = u.event
       from unnest($1::bigint[], $2::bigint[]) as u (id, event)
      where a.id = u.id`,
    [alerts.map(({ id }) => id), alerts.map(({ causedBy }) => causedBy)],
  );
}

/** Enqueues notifications, in this order. */
export async function insertOutbox(
  tx: Queryable,
  entries: readonly { readonly alertId: number; readonly type: OutboxType }[],
): Promise<void> {
  await tx.query(
    `insert into alert_outbox (alert_id, type)
     select alert_id, type
       from unnest($1::bigint[], $2::text[]) with ordinality as u (alert_id, type, place)
      order by place`,
    [entries.map(({ alertId }) => alertId), entries.map(({ type }) => type)],
  );
}

/**
 * Ends due snoozes of unresolved alerts, a bounded number of them. Alerts that another transaction has
 * locked are left to the next run.
 * @returns the ids of the alerts
 */
export async function endSnoozes(
  tx: Queryable,
  request: { readonly now: Date; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `update alerts
        set snoozed_until = null, snoozed_by = null, snoozed_reason = null,
            updated_at = statement_timestamp()
      where id = any (array(select id from alerts
                             where state <> 'resolved' and snoozed_until <= $1
                             order by id
                             limit $2
                               for update skip locked))
      returning id`,
    [request.now.toISOString(), request.limit],
  );
  return rows.map(({ id }) => id);
}

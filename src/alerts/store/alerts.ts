/** Statements on alerts and on what is to be said of them. Sets come in the order of their keys. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Alert, Current, Kept, Settled } from '../domain/alert.ts';

/** Why an alert is said. */
export type Occasion = 'opened' | 'reminder' | 'resolved';

/** Locks and reads what is not resolved of the subjects and rules. */
export function lockCurrent(
  tx: Queryable,
  settled: readonly Pick<Settled, 'subject' | 'rules'>[],
): Promise<readonly Current[]> {
  const asked = settled.flatMap(({ subject, rules }) => rules.map((rule) => ({ subject, rule })));
  return tx.query<Current>(
    `select id, rule, subject, variant, severity, acknowledged_at is not null as "isAcknowledged",
            snoozed_until is not null as "isSnoozed"
       from alerts
      where state <> 'resolved'
        and (subject, rule) in (select subject, rule from unnest($1::text[], $2::text[]) as u (subject, rule))
      order by subject, rule, variant
        for update`,
    [asked.map(({ subject }) => subject), asked.map(({ rule }) => rule)],
  );
}

/** What a rule states, as columns; names as in the table. */
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
 * Writes alerts: open, or resolved from the start. Where somebody else has opened one of the same key
 * meanwhile, that one stays and none is written.
 * @returns the numbers of those written
 */
export async function insertAlerts(
  tx: Queryable,
  alerts: readonly Alert[],
  state: 'open' | 'resolved',
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `insert into alerts (${STATED_NAMES}, state, resolved_at)
     select ${STATED_NAMES}, $1::text, case when $1::text = 'resolved' then statement_timestamp() end
       from unnest(${statedRows(2)}) as u (${STATED_NAMES})
      order by subject, rule, variant
     on conflict (subject, rule, variant) where state <> 'resolved' do nothing
     returning id`,
    [state, ...statedValues(alerts)],
  );
  return rows.map(({ id }) => id);
}

/** Brings alerts that go on up to date; one that says the same as before is not written. */
export async function updateAlerts(tx: Queryable, kept: readonly Kept[]): Promise<void> {
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

/** Resolves alerts whose condition is gone. */
export async function resolveAlerts(
  tx: Queryable,
  alerts: readonly { readonly id: number }[],
): Promise<void> {
  await tx.query(
    `update alerts
        set state = 'resolved', resolved_at = statement_timestamp(),
            updated_at = statement_timestamp()
      where id = any ($1::bigint[])`,
    [alerts.map(({ id }) => id)],
  );
}

/** Hands alerts to the channels, in this order. */
export async function insertOutbox(
  tx: Queryable,
  entries: readonly { readonly alertId: number; readonly occasion: Occasion }[],
): Promise<void> {
  await tx.query(
    `insert into alert_outbox (alert_id, occasion)
     select alert_id, occasion
       from unnest($1::bigint[], $2::text[]) with ordinality as u (alert_id, occasion, place)
      order by place`,
    [entries.map(({ alertId }) => alertId), entries.map(({ occasion }) => occasion)],
  );
}

/**
 * Ends snoozes of what still stands, a bounded number of them; those that somebody else holds are left
 * to the next run.
 * @returns the numbers of the alerts
 */
export async function endSnoozes(
  tx: Queryable,
  request: { readonly now: Date; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `update alerts
        set snoozed_until = null, snoozed_by = null, updated_at = statement_timestamp()
      where id in (select id from alerts
                    where state <> 'resolved' and snoozed_until <= $1
                    order by id
                    limit $2
                      for update skip locked)
      returning id`,
    [request.now.toISOString(), request.limit],
  );
  return rows.map(({ id }) => id);
}

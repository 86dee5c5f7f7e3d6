/** Statements that read alerts for the command line and the API, and record what people do about them. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type Found,
  type SearchPage,
  type SearchSource,
  searchNewest,
} from '../../platform/db/search.ts';
import { type Rule, type Severity, TERMINAL_RULES } from '../domain/alert.ts';

export const ALERT_STATES = ['open', 'acknowledged', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

export interface AlertRow {
  readonly id: number;
  readonly rule: Rule;
  readonly subject: string;
  readonly variant: string;
  readonly severity: Severity;
  readonly state: AlertState;
  readonly sentence: string;
  readonly nextStep: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly deadlineAt: Date | null;
  readonly openedAt: Date;
  readonly updatedAt: Date;
  readonly resolvedAt: Date | null;
  /** Who handles it, and how; kept after it is resolved. */
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  /** It does not notify until then. */
  readonly snoozedUntil: Date | null;
  readonly snoozedBy: string | null;
  readonly snoozedReason: string | null;
  /** Who is to handle it; kept after it is resolved. */
  readonly assignedTo: string | null;
  readonly assignedAt: Date | null;
  readonly assignedBy: string | null;
  readonly assignedReason: string | null;
}

const COLUMNS = `
  id, rule, subject, variant, severity, state, sentence, next_step as "nextStep", detail,
  order_id as "orderId", payment_id as "paymentId", deadline_at as "deadlineAt",
  opened_at as "openedAt", updated_at as "updatedAt", resolved_at as "resolvedAt",
  acknowledged_at as "acknowledgedAt", acknowledged_by as "acknowledgedBy",
  acknowledged_reason as "acknowledgedReason",
  snoozed_until as "snoozedUntil", snoozed_by as "snoozedBy", snoozed_reason as "snoozedReason",
  assigned_to as "assignedTo", assigned_at as "assignedAt", assigned_by as "assignedBy",
  assigned_reason as "assignedReason"`;

interface AlertFilter {
  /** Undefined for all states. */
  readonly states: readonly AlertState[] | undefined;
  readonly severity: Severity | undefined;
  readonly rule: Rule | undefined;
}

/** Alerts of a filter, newest first. */
export function searchAlerts(
  db: Queryable,
  { states, severity, rule }: AlertFilter,
  page: SearchPage,
): Promise<Found<AlertRow>> {
  const isFiltered = [states, severity, rule].some((one) => one !== undefined);
  return searchNewest<AlertRow>(
    db,
    {
      table: 'alerts',
      key: 'id',
      columns: COLUMNS,
      source: sourceOf({ states, severity, rule }),
      filter: isFiltered
        ? {
            columns: 'state, severity, rule',
            where: `($5::text[] is null or state = any ($5::text[]))
                    and ($6::text is null or severity = $6) and ($7::text is null or rule = $7)`,
            values: [states ?? null, severity ?? null, rule ?? null],
          }
        : undefined,
    },
    page,
  );
}

/** Unresolved alerts are few and have an index; so have rules and severities, for this list alone. */
function sourceOf({ states, severity, rule }: AlertFilter): SearchSource {
  if (states !== undefined && !states.includes('resolved')) return { where: `state <> 'resolved'` };
  if (rule !== undefined) return { where: 'rule = $2 and id > 0', value: rule };
  if (severity !== undefined) return { where: 'severity = $2 and id > 0', value: severity };
  return { where: 'true' };
}

/** Unresolved alerts, the most severe first, then the newest; uses their partial index. */
export function readUrgentAlerts(db: Queryable, limit: number): Promise<readonly AlertRow[]> {
  return db.query<AlertRow>(
    `select ${COLUMNS}
       from alerts
      where state <> 'resolved'
      order by array_position(array['critical', 'warning', 'info'], severity), id desc
      limit $1`,
    [limit],
  );
}

/** A count stops here and then means "this many or more". */
const COUNTED_ALERTS = 10_000;

export interface SeverityCount {
  readonly severity: Severity;
  readonly alerts: number;
}

/** Unresolved alerts by severity. */
export function countUnresolved(db: Queryable): Promise<readonly SeverityCount[]> {
  return db.query<SeverityCount>(
    `select severity, count(*) as alerts
       from (select severity from alerts where state <> 'resolved' order by id limit $1) a
      group by severity`,
    [COUNTED_ALERTS],
  );
}

/** Unresolved alerts about disputes with a deadline ahead, the nearest first. */
export function readDisputeDeadlines(
  db: Queryable,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<readonly AlertRow[]> {
  return db.query<AlertRow>(
    `select distinct on (deadline_at, subject) ${COLUMNS}
       from alerts
      where state <> 'resolved' and subject like 'dispute:%'
        and deadline_at > statement_timestamp() and deadline_at < $1
      order by deadline_at, subject, id desc
      limit $2`,
    [before.toISOString(), limit],
  );
}

/** Alerts about any of these subjects, newest first. */
export function readAlertsAbout(
  db: Queryable,
  subjects: readonly string[],
  limit: number,
): Promise<readonly AlertRow[]> {
  return db.query<AlertRow>(
    `select ${COLUMNS}
       from alerts
      where subject = any ($1::text[])
      order by id desc
      limit $2`,
    [subjects, limit],
  );
}

/** Alerts that an event opened, or resolved, in the order of their numbers. @param event its inbox number */
export function readAlertsOfEvent(
  db: Queryable,
  {
    event,
    limit,
    by,
  }: {
    readonly event: number;
    readonly limit: number;
    readonly by: 'opened' | 'resolved';
  },
): Promise<readonly AlertRow[]> {
  return db.query<AlertRow>(
    `select ${COLUMNS} from alerts where ${by}_by_event = $1 order by id limit $2`,
    [event, limit],
  );
}

export interface RuleCount extends SeverityCount {
  readonly rule: Rule;
  /** The newest of them. */
  readonly newest: number;
  readonly sentence: string;
  /** When the oldest of them opened. */
  readonly oldestAt: Date;
}

/** Unresolved alerts by rule and severity, the most severe and most frequent first. */
export function countByRule(db: Queryable): Promise<readonly RuleCount[]> {
  return db.query<RuleCount>(
    `select g.rule, g.severity, g.alerts, g.newest, g."oldestAt", n.sentence
       from (select rule, severity, count(*) as alerts, max(id) as newest,
                    min(opened_at) as "oldestAt"
               from (select id, rule, severity, opened_at from alerts
                      where state <> 'resolved' order by id desc limit $1) a
              group by rule, severity) g
       join alerts n on n.id = g.newest
      order by array_position(array['critical', 'warning', 'info'], g.severity), g.alerts desc, g.rule
      limit 200`,
    [COUNTED_ALERTS],
  );
}

/** @returns undefined if there is no such alert */
export async function readAlert(db: Queryable, id: number): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(`select ${COLUMNS} from alerts where id = $1`, [id]);
  return rows[0];
}

/**
 * Acknowledges an open alert. An alert of a terminal rule is resolved by this.
 * @returns the alert; undefined if it is not open
 */
export async function markAcknowledged(
  db: Queryable,
  id: number,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(
    `update alerts
        set state = case when rule = any ($4::text[]) then 'resolved' else 'acknowledged' end,
            resolved_at = case when rule = any ($4::text[]) then statement_timestamp() end,
            acknowledged_at = statement_timestamp(), acknowledged_by = $2, acknowledged_reason = $3,
            snoozed_until = null, snoozed_by = null, snoozed_reason = null,
            updated_at = statement_timestamp()
      where id = $1 and state = 'open'
      returning ${COLUMNS}`,
    [id, by, reason, TERMINAL_RULES],
  );
  return rows[0];
}

export interface Snooze {
  readonly by: string;
  readonly until: Date;
  readonly reason?: string | undefined;
}

/** Mutes an alert until a time. @returns the alert; undefined if it is resolved or unknown */
export async function markSnoozed(
  db: Queryable,
  id: number,
  { by, until, reason }: Snooze,
): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(
    `update alerts
        set snoozed_until = $3, snoozed_by = $2, snoozed_reason = $4,
            updated_at = statement_timestamp()
      where id = $1 and state <> 'resolved'
      returning ${COLUMNS}`,
    [id, by, until, reason ?? null],
  );
  return rows[0];
}

export interface Assignment {
  readonly by: string;
  /** Undefined: to nobody. */
  readonly to: string | undefined;
  readonly reason: string;
}

/** Assigns an alert to a person. @returns the alert; undefined if it is resolved or unknown */
export async function markAssigned(
  db: Queryable,
  id: number,
  { by, to, reason }: Assignment,
): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(
    `update alerts
        set assigned_to = $2,
            assigned_at = case when $2::text is not null then statement_timestamp() end,
            assigned_by = case when $2::text is not null then $3::text end,
            assigned_reason = case when $2::text is not null then $4::text end,
            updated_at = statement_timestamp()
      where id = $1 and state <> 'resolved'
      returning ${COLUMNS}`,
    [id, to ?? null, by, reason],
  );
  return rows[0];
}

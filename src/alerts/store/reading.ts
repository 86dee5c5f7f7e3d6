/** Statements that read alerts for people and programs. */
import type { Queryable } from '../../platform/db/database.ts';
import { ENDS_OF_LIFE, type Rule, type Severity } from '../domain/alert.ts';

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
  /** Who deals with it, and how; also where it was resolved since. */
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  /** Nothing is said of it until then. */
  readonly snoozedUntil: Date | null;
  readonly snoozedBy: string | null;
}

const COLUMNS = `
  id, rule, subject, variant, severity, state, sentence, next_step as "nextStep", detail,
  order_id as "orderId", payment_id as "paymentId", deadline_at as "deadlineAt",
  opened_at as "openedAt", updated_at as "updatedAt", resolved_at as "resolvedAt",
  acknowledged_at as "acknowledgedAt", acknowledged_by as "acknowledgedBy",
  acknowledged_reason as "acknowledgedReason",
  snoozed_until as "snoozedUntil", snoozed_by as "snoozedBy"`;

export interface AlertPage {
  /** Undefined: all of them. */
  readonly states: readonly AlertState[] | undefined;
  readonly severity: Severity | undefined;
  readonly rule: Rule | undefined;
  readonly below: number;
  readonly limit: number;
}

/**
 * Alerts below a number, newest first. Where the resolved ones are left out, that is a condition of its
 * own, so that the few others are found without reading through all that ever were.
 */
export function readAlertRows(db: Queryable, page: AlertPage): Promise<readonly AlertRow[]> {
  const isCurrent = page.states !== undefined && !page.states.includes('resolved');
  return db.query<AlertRow>(
    `select ${COLUMNS}
       from alerts
      where id < $1
        and ($2::text[] is null or state = any ($2::text[]))
        ${isCurrent ? `and state <> 'resolved'` : ''}
        and ($3::text is null or severity = $3)
        and ($4::text is null or rule = $4)
      order by id desc
      limit $5`,
    [page.below, page.states ?? null, page.severity ?? null, page.rule ?? null, page.limit],
  );
}

/** @returns undefined when there is no such alert */
export async function readAlert(db: Queryable, id: number): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(`select ${COLUMNS} from alerts where id = $1`, [id]);
  return rows[0];
}

/**
 * Says that somebody deals with an open alert, which resolves an end of a life.
 * @returns it; undefined when it is not open
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
            snoozed_until = null, snoozed_by = null, updated_at = statement_timestamp()
      where id = $1 and state = 'open'
      returning ${COLUMNS}`,
    [id, by, reason, ENDS_OF_LIFE],
  );
  return rows[0];
}

/** Has nothing said of an alert until a time. @returns it; undefined when it is resolved or unknown */
export async function markSnoozed(
  db: Queryable,
  id: number,
  { by, until }: { readonly by: string; readonly until: Date },
): Promise<AlertRow | undefined> {
  const rows = await db.query<AlertRow>(
    `update alerts
        set snoozed_until = $3, snoozed_by = $2, updated_at = statement_timestamp()
      where id = $1 and state <> 'resolved'
      returning ${COLUMNS}`,
    [id, by, until],
  );
  return rows[0];
}

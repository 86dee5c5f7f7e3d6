/** Statements that read alerts for other modules: what is open, and what was raised about subjects. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Rule, Severity } from '../domain/alert.ts';

/** How many alerts are open and not acknowledged, by severity. */
export function countOpenAlerts(
  db: Queryable,
): Promise<readonly { readonly severity: Severity; readonly open: number }[]> {
  return db.query(
    `select severity, count(*) as open from alerts where state = 'open' group by severity limit 10`,
  );
}

/** Rules with an unresolved alert about one of the subjects. */
export async function readOpenRules(
  db: Queryable,
  subjects: readonly string[],
): Promise<readonly Rule[]> {
  const rows = await db.query<{ rule: Rule }>(
    `select rule from alerts where state <> 'resolved' and subject = any ($1::text[]) limit 100`,
    [subjects],
  );
  return rows.map(({ rule }) => rule);
}

/** Times are microseconds since 1970. */
interface AlertSummary {
  readonly id: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: string;
  readonly sentence: string;
  readonly openedMicros: number;
  readonly acknowledgedMicros: number | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  readonly resolvedMicros: number | null;
}

/** Alerts about subjects, newest first. */
export function readAlertHistory(
  db: Queryable,
  { subjects, limit }: { readonly subjects: readonly string[]; readonly limit: number },
): Promise<readonly AlertSummary[]> {
  return db.query<AlertSummary>(
    `select id, rule, subject, severity, sentence,
            (extract(epoch from opened_at) * 1000000)::bigint as "openedMicros",
            (extract(epoch from acknowledged_at) * 1000000)::bigint as "acknowledgedMicros",
            acknowledged_by as "acknowledgedBy", acknowledged_reason as "acknowledgedReason",
            (extract(epoch from resolved_at) * 1000000)::bigint as "resolvedMicros"
       from alerts
      where subject = any ($1::text[])
      order by id desc
      limit $2`,
    [subjects, limit],
  );
}

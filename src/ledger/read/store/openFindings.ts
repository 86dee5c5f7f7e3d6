/** Statements that select, count and list open findings, for other modules. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { FindingClass } from '../../domain/findings.ts';
import type { FindingName } from '../../store/findings.ts';

/** How many findings are open and not accepted. */
export async function countOpenFindings(db: Queryable): Promise<number> {
  const rows = await db.query<{ open: number }>(
    `select count(*) as open from findings where state = 'open' and accepted_at is null`,
  );
  return rows[0]?.open ?? 0;
}

/** The latest finding about a subject. */
export interface LatestFinding {
  readonly subject: string;
  /** In milliseconds since 1970. */
  readonly openedMs: number;
  readonly isOpen: boolean;
  readonly isAccepted: boolean;
}

/** Of one class, the latest findings about these subjects that are open or were closed within a time. */
export async function readLatestFindings(
  db: Queryable,
  findingClass: FindingClass,
  {
    subjects,
    closedWithinMs,
  }: { readonly subjects: readonly string[]; readonly closedWithinMs: number },
): Promise<readonly LatestFinding[]> {
  return await db.query<LatestFinding>(
    `select distinct on (subject) subject, (extract(epoch from opened_at) * 1000)::bigint as "openedMs",
            state = 'open' as "isOpen", accepted_at is not null as "isAccepted"
       from findings
      where class = $1 and subject = any ($2::text[])
        and (state = 'open' or closed_at > statement_timestamp() - $3 * interval '1 millisecond')
      order by subject, closed_at desc nulls first
      limit $4`,
    [findingClass, subjects, closedWithinMs, subjects.length],
  );
}

/** Selects those of these findings that are open. */
export function selectOpenFindings(
  db: Queryable,
  findings: readonly FindingName[],
): Promise<readonly FindingName[]> {
  return selectFindings(db, findings, '');
}

/** Selects those of these findings that are open and accepted. */
export function selectAcceptedFindings(
  db: Queryable,
  findings: readonly FindingName[],
): Promise<readonly FindingName[]> {
  return selectFindings(db, findings, 'and f.accepted_at is not null');
}

/** More subjects of one class than an account has profiles. */
const MAX_SUBJECTS = 1_000;

/** The subjects of a class with an open finding, accepted or not. */
export async function readOpenSubjects(
  db: Queryable,
  findingClass: FindingClass,
): Promise<readonly string[]> {
  const rows = await db.query<{ subject: string }>(
    `select subject from findings
      where class = $1 and state = 'open'
      order by subject limit $2`,
    [findingClass, MAX_SUBJECTS],
  );
  return rows.map(({ subject }) => subject);
}

/**
 * Each name is looked up, by the index of subjects: a transaction that applies events keeps its plan (docs/decisions/0178-plans-for-small-tables.md).
 */
function selectFindings(
  db: Queryable,
  findings: readonly FindingName[],
  condition: string,
): Promise<readonly FindingName[]> {
  return db.query<FindingName>(
    `select wanted.class, wanted.subject
       from unnest($1::text[], $2::text[]) as wanted (class, subject)
      cross join lateral (
        select from findings f
         where f.class = wanted.class and f.subject = wanted.subject and f.closed_at is null ${condition}
         limit 1) found
      limit $3`,
    [
      findings.map((finding) => finding.class),
      findings.map(({ subject }) => subject),
      findings.length,
    ],
  );
}

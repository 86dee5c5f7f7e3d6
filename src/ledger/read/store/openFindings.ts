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

/** More subjects of one class than an account has profiles. */
const MAX_SUBJECTS = 1_000;

export interface OpenFinding {
  readonly subject: string;
  /** In milliseconds since 1970. */
  readonly openedMs: number;
  readonly isAccepted: boolean;
}

/** The open findings of a class that has few, oldest first. */
export async function readOpenFindings(
  db: Queryable,
  findingClass: FindingClass,
): Promise<readonly OpenFinding[]> {
  return await db.query<OpenFinding>(
    `select subject, (extract(epoch from opened_at) * 1000)::bigint as "openedMs",
            accepted_at is not null as "isAccepted"
       from findings
      where class = $1 and state = 'open'
      order by opened_at, subject limit $2`,
    [findingClass, MAX_SUBJECTS],
  );
}

/** Selects those of these findings that are open. */
export function selectOpenFindings(
  db: Queryable,
  findings: readonly FindingName[],
): Promise<readonly FindingName[]> {
  return selectFindings(db, findings, `state = 'open'`);
}

/** Selects those of these findings that are open and accepted. */
export function selectAcceptedFindings(
  db: Queryable,
  findings: readonly FindingName[],
): Promise<readonly FindingName[]> {
  return selectFindings(db, findings, `state = 'open' and accepted_at is not null`);
}

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

function selectFindings(
  db: Queryable,
  findings: readonly FindingName[],
  condition: string,
): Promise<readonly FindingName[]> {
  return db.query<FindingName>(
    `select class, subject from findings
      where ${condition}
        and (class, subject) in
            (select class, subject from unnest($1::text[], $2::text[]) as u (class, subject))`,
    [findings.map((finding) => finding.class), findings.map(({ subject }) => subject)],
  );
}

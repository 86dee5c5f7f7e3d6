/** Statements on findings. */
import type { Queryable } from '../../platform/db/database.ts';

export interface FindingName {
  readonly class: string;
  readonly subject: string;
}

/** A finding that was opened or changed by this statement. */
export interface ShownFinding extends FindingName {
  readonly detail: Readonly<Record<string, unknown>>;
  /** How long it has been open. */
  readonly ageMs: number;
}

/**
 * Opens findings. An open one with a different detail is updated and loses its acceptance. No two
 * findings have the same class and subject.
 * @returns those that were opened or changed
 */
export function upsertFindings(
  tx: Queryable,
  findings: readonly (FindingName & Pick<ShownFinding, 'detail'>)[],
): Promise<readonly ShownFinding[]> {
  return tx.query<ShownFinding>(
    `insert into findings (class, subject, detail)
     select class, subject, detail
       from unnest($1::text[], $2::text[], $3::jsonb[]) as u (class, subject, detail)
      order by class, subject
     on conflict (class, subject) where state = 'open'
     do update set detail = excluded.detail, updated_at = now(),
                   accepted_at = null, accepted_by = null, accepted_reason = null
      where findings.detail <> excluded.detail
     returning class, subject, detail,
               (extract(epoch from statement_timestamp() - opened_at) * 1000)::bigint as "ageMs"`,
    [
      findings.map((finding) => finding.class),
      findings.map(({ subject }) => subject),
      findings.map(({ detail }) => JSON.stringify(detail)),
    ],
  );
}

/** Closes findings. @returns those that were open */
export function markClosed(
  tx: Queryable,
  findings: readonly FindingName[],
): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where state = 'open'
        and (class, subject) in (select class, subject from unnest($1::text[], $2::text[]) as u (class, subject))
      returning class, subject`,
    [findings.map((finding) => finding.class), findings.map(({ subject }) => subject)],
  );
}

/** Closes findings of any of these classes about any of these subjects. @returns those that were open */
export function markClassesClosed(
  tx: Queryable,
  classes: readonly string[],
  subjects: readonly string[],
): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where state = 'open' and class = any ($1::text[]) and subject = any ($2::text[])
      returning class, subject`,
    [classes, subjects],
  );
}

/**
 * Closes every open finding about a subject.
 * @returns those that were open
 */
export function markSubjectClosed(tx: Queryable, subject: string): Promise<readonly FindingName[]> {
  return tx.query<FindingName>(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where state = 'open' and subject = $1
      returning class, subject`,
    [subject],
  );
}

/**
 * Accepts an open finding that is not accepted yet.
 * @returns its name; undefined if there is none
 */
export async function markAccepted(
  tx: Queryable,
  id: number,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<FindingName | undefined> {
  const rows = await tx.query<FindingName>(
    `update findings
        set accepted_at = statement_timestamp(), accepted_by = $2, accepted_reason = $3,
            updated_at = now()
      where id = $1 and state = 'open' and accepted_at is null
      returning class, subject`,
    [id, by, reason],
  );
  return rows[0];
}

/**
 * The subjects that have an open, accepted finding of a class. Locks the findings, so that none is
 * accepted before the caller commits.
 */
export async function lockAccepted(
  tx: Queryable,
  findingClass: string,
  subjects: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.query<{ subject: string; isAccepted: boolean }>(
    `select subject, accepted_at is not null as "isAccepted"
       from findings
      where state = 'open' and class = $1 and subject = any ($2::text[])
      order by subject
        for share`,
    [findingClass, subjects],
  );
  return rows.flatMap(({ subject, isAccepted }) => (isAccepted ? subject : []));
}

/** @returns undefined if the finding does not exist */
export async function readFindingState(
  db: Queryable,
  id: number,
): Promise<'open' | 'closed' | undefined> {
  const rows = await db.query<{ state: 'open' | 'closed' }>(
    'select state from findings where id = $1',
    [id],
  );
  return rows[0]?.state;
}

/** Statements on findings. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Finding } from '../domain/findings.ts';

/**
 * Opens findings; one that is open already takes the new detail, and is accepted no longer where that
 * differs. Classes and subjects are distinct.
 */
export async function openFindings(tx: Queryable, findings: readonly Finding[]): Promise<void> {
  await tx.query(
    `insert into findings (class, subject, detail)
     select class, subject, detail
       from unnest($1::text[], $2::text[], $3::jsonb[]) as u (class, subject, detail)
      order by class, subject
     on conflict (class, subject) where state = 'open'
     do update set detail = excluded.detail, updated_at = now(),
        accepted_at = case when findings.detail = excluded.detail then findings.accepted_at end,
        accepted_by = case when findings.detail = excluded.detail then findings.accepted_by end,
        accepted_reason = case when findings.detail = excluded.detail then findings.accepted_reason end`,
    [
      findings.map((finding) => finding.class),
      findings.map(({ subject }) => subject),
      findings.map(({ detail }) => JSON.stringify(detail)),
    ],
  );
}

/** Closes findings whose test passes now. */
export async function closeFindings(
  tx: Queryable,
  findings: readonly { readonly class: string; readonly subject: string }[],
): Promise<void> {
  await tx.query(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where state = 'open'
        and (class, subject) in (select class, subject from unnest($1::text[], $2::text[]) as u (class, subject))`,
    [findings.map((finding) => finding.class), findings.map(({ subject }) => subject)],
  );
}

/** Closes everything that is open about a subject, because somebody is dealing with it. */
export async function closeSubject(tx: Queryable, subject: string): Promise<void> {
  await tx.query(
    `update findings
        set state = 'closed', closed_at = statement_timestamp(), updated_at = now()
      where state = 'open' and subject = $1`,
    [subject],
  );
}

/** Accepts a finding that is open and not accepted yet. @returns whether there was one */
export async function markAccepted(
  db: Queryable,
  id: number,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<boolean> {
  const rows = await db.query(
    `update findings
        set accepted_at = statement_timestamp(), accepted_by = $2, accepted_reason = $3,
            updated_at = now()
      where id = $1 and state = 'open' and accepted_at is null
      returning id`,
    [id, by, reason],
  );
  return rows.length > 0;
}

/** @returns undefined when there is no such finding */
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

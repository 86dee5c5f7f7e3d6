/** The statement that finds money which stands too long. */
import type { Database } from '../../platform/db/database.ts';
import type { Term } from '../domain/overdue.ts';

/**
 * Opens a finding `overdue` for resources past their term, at most `limit` at a time. The class is
 * noted on the row, so that the next look at it closes the finding. Rows that are being applied are
 * passed over until the next run. Reads the whole table, once an hour: an index on the status would
 * cost every event more than that.
 * @returns how many were found
 */
export async function openOverdue(
  db: Database,
  request: { readonly terms: readonly Term[]; readonly now: Date; readonly limit: number },
): Promise<number> {
  const rows = await db.query<{ found: number }>(
    `with terms as (
       select kind, account, statuses, days
         from jsonb_to_recordset($1::jsonb) as t (kind text, account text, statuses text[], days int)
     ), due as (
       select r.kind, r.id, t.account, t.days, coalesce(r.created_at, r.first_seen_at) as since
         from terms t
         join resources r on r.kind = t.kind and r.status = any (t.statuses)
        where r.posts and r.stage is distinct from 'pre_dispute'
          and coalesce(r.created_at, r.first_seen_at) < $2::timestamptz - t.days * interval '1 day'
          and not 'overdue' = any (r.open_findings)
        order by r.kind, r.id
        limit $3
          for update of r skip locked
     ), marked as (
       update resources r
          set open_findings = array_append(r.open_findings, 'overdue')
         from due
        where r.kind = due.kind and r.id = due.id
     ), opened as (
       insert into findings (class, subject, detail)
       select 'overdue', kind || ':' || id,
              jsonb_build_object('account', account, 'termDays', days, 'since', since)
         from due
       on conflict (class, subject) where state = 'open' do nothing
     )
     select count(*) as found from due`,
    [JSON.stringify(request.terms), request.now.toISOString(), request.limit],
  );
  return rows[0]?.found ?? 0;
}

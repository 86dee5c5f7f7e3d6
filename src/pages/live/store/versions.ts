/** The statement behind live pages: one for all viewers of a process, once a second. */
import type { Database } from '../../../platform/db/database.ts';
import { LIST_TOPICS, type Topic } from '../topics.ts';

/**
 * A version of each topic, which differs when the topic moved. Nothing else follows from it.
 *
 * `xmin` of a row changes with each update of it, and sums of it over the newest rows with each insert.
 * The number of committed changes is the last number plus those that wait for one; beyond a bound, the
 * last id that waits takes its place, because changes come so fast then that the next second corrects it.
 */
export async function readVersions(
  db: Pick<Database, 'prepared'>,
  topics: readonly Topic[],
): Promise<ReadonlyMap<string, string>> {
  const items = topics
    .map((topic) => ({ kind: topic.split(':', 1)[0] ?? '', topic }))
    .filter(({ kind, topic }) => kind !== topic);
  const numbered = items.filter(({ kind, topic }) => isNumbered(kind, topic));
  // Planning takes three times as long as reading, and the plan is always the same.
  const rows = await db.prepared<{ topic: string; version: string | null }>(STATEMENT, [
    items.map(({ kind }) => kind),
    items.map(({ kind, topic }) => topic.slice(kind.length + 1)),
    numbered.map(({ kind }) => kind),
    numbered.map(({ kind, topic }) => topic.slice(kind.length + 1)),
    LIST_TOPICS.length + items.length,
  ]);
  return new Map(rows.map(({ topic, version }) => [topic, version ?? '']));
}

const NUMBERED: readonly string[] = ['event', 'finding', 'alert', 'message', 'run'];

function isNumbered(kind: string, topic: string): boolean {
  return NUMBERED.includes(kind) && /^\d{1,15}$/.test(topic.slice(kind.length + 1));
}

const STATEMENT = `
  with item as materialized (
    select * from unnest($1::text[], $2::text[]) as i (kind, id)
  ), numbered as materialized (
    select * from unnest($3::text[], $4::bigint[]) as n (kind, number)
  )
  select topic, version from (
    select 'ledger' as topic,
           (select coalesce(max(number), 0) from changes) + count(*) || ':' ||
           case when count(*) < 200 then 0 else max(id) end as version
      from (select id from change_log order by id desc limit 200) newest
    union all
    select 'inbox',
           concat_ws(':',
             (select max(id) from webhook_events),
             (select count(*) from (select from pending limit 200) waiting),
             (select sum(xmin::text::bigint) from (select xmin from dead_events limit 1000) dead))
    union all
    select 'findings', concat_ws(':', sum(xmin::text::bigint), (
             select sum(xmin::text::bigint)
               from (select xmin from findings where state = 'open' order by id desc limit 200) open))
      from (select xmin from findings order by id desc limit 100) newest
    union all
    select 'alerts', concat_ws(':', sum(xmin::text::bigint), (
             select sum(xmin::text::bigint)
               from (select xmin from alerts where state <> 'resolved' order by id desc limit 200) open))
      from (select xmin from alerts order by id desc limit 100) newest
    union all
    select 'messages', sum(xmin::text::bigint)::text
      from (select xmin from messages order by number desc limit 100) newest
    union all
    select 'runs', concat_ws(':', sum(xmin::text::bigint), (
             select sum(xmin::text::bigint) from (select xmin from reconcile_pauses limit 100) pauses))
      from (select xmin from reconcile_runs order by id desc limit 100) newest
    union all
    select 'replays', sum(xmin::text::bigint)::text
      from (select xmin from replay_runs order by id desc limit 100) newest
    union all
    select 'erasures', sum(xmin::text::bigint)::text
      from (select xmin from erasures order by id desc limit 100) newest
    union all
    select 'system', concat_ws(':', sum(xmin::text::bigint), (
             select sum(xmin::text::bigint) from (select xmin from channel_health limit 100) channels), (
             select sum(xmin::text::bigint) from (select xmin from schedule_requests limit 100) requests), (
             select count(*) || '.' || count(*) filter (where is_ready)
               from (select is_ready from processes
                      where seen_at > statement_timestamp() - interval '30 s' limit 200) seen))
      from (select xmin from schedule_slots limit 100) slots
    union all
    select 'order:' || item.id, concat_ws(':', (
             select xmin from orders where order_key = item.id), (
             select sum(xmin::text::bigint)
               from (select xmin from resources where order_key = item.id limit 200) parts))
      from item where item.kind = 'order'
    union all
    select item.kind || ':' || item.id, r.xmin::text
      from item join resources r on r.kind = item.kind and r.id = item.id
     where item.kind in ('payment', 'refund', 'dispute', 'payout')
    union all
    select 'event:' || number, concat_ws(':', e.xmin, p.xmin, d.xmin)
      from numbered
      join webhook_events e on e.id = number
      left join pending p on p.webhook_event_id = number
      left join dead_events d on d.webhook_event_id = number
     where numbered.kind = 'event'
    union all
    select 'finding:' || number, f.xmin::text
      from numbered join findings f on f.id = number where numbered.kind = 'finding'
    union all
    select 'alert:' || number, a.xmin::text
      from numbered join alerts a on a.id = number where numbered.kind = 'alert'
    union all
    select 'message:' || numbered.number, m.xmin::text
      from numbered join messages m on m.number = numbered.number where numbered.kind = 'message'
    union all
    select 'run:' || number, r.xmin::text
      from numbered join reconcile_runs r on r.id = number where numbered.kind = 'run'
  ) versions
  limit $5`;

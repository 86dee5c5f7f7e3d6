/** Statements that find what is unproven about money up to a time. Each returns a count and some examples. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { ClosingException, ExceptionKind } from '../../domain/closings.ts';
import { instantOrNull } from '../../domain/time.ts';

const EXAMPLES = 20;

/**
 * Findings and uncertain resources, except those about resources that were created after the time, and events
 * that are not applied. An event that arrived within the last minute is being applied.
 */
export function readUnproven(
  tx: Queryable,
  beforeMicros: number,
): Promise<readonly ClosingException[]> {
  return tx.query<ClosingException & { readonly kind: ExceptionKind }>(
    `with unproven (kind, place, example) as (
       select 'open_findings', id, id || ' ' || class || ' ' || subject
         from findings f
        where state = 'open' and accepted_at is null
              and not exists (
                select from resources r
                 where r.kind = split_part(f.subject, ':', 1)
                       and r.id = substr(f.subject, position(':' in f.subject) + 1)
                       and r.created_at >= $1)
              and (f.subject not like 'order:%' or exists (
                select from resources r
                 where r.order_key = substr(f.subject, 7)
                       and coalesce(r.created_at, '-infinity') < $1)
                or not exists (select from resources r where r.order_key = substr(f.subject, 7)))
       union all
       select 'uncertain', extract(epoch from first_seen_at)::bigint, kind || ':' || id
         from resources
        where uncertainties <> '{}' and coalesce(created_at, '-infinity') < $1
       union all
       select 'pending_events', webhook_event_id, 'event:' || webhook_event_id
         from pending where since < statement_timestamp() - interval '1 minute'
       union all
       select 'dead_events', webhook_event_id, 'event:' || webhook_event_id from dead_events)
     select kind, count(*) as count,
            to_jsonb((array_agg(example order by place))[1:${EXAMPLES}]) as examples
       from unproven
      group by kind
      order by kind
      limit 10`,
    [instantOrNull(beforeMicros)],
  );
}

/** All resources as they are stored, by id, those that changed last, and their sums. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Resource } from '../../domain/resource.ts';
import {
  RECENT_EVENTS,
  type RecentQuery,
  type RecentResource,
  type ResourceSum,
  type ResourcesAfter,
} from '../allResources.ts';

/** Resources of a kind by id. */
export function listAllResources(db: Queryable, page: ResourcesAfter): Promise<Resource[]> {
  return db.query(
    `select kind, state from sandbox.resources
      where kind = $1 and id > $2
      order by id
      limit $3`,
    [page.kind, page.after, page.limit],
  );
}

/** The resources of the newest events, the last change first. @param wanted `orderId`: only of this order */
export function listRecent(db: Queryable, wanted: RecentQuery): Promise<RecentResource[]> {
  return db.query(
    `select kind, state, "orderId"
       from (select r.kind, r.state, newest.seq,
                    coalesce(p.state->'metadata'->>'order_id', r.state->'metadata'->>'order_id',
                             r.state->>'merchant_order_reference_id') as "orderId"
               from (select kind, object_id, max(seq) as seq
                       from (select kind, object_id, seq
                               from sandbox.events
                              order by seq desc
                              limit ${RECENT_EVENTS}) events
                      group by kind, object_id) newest
               join sandbox.resources r on r.kind = newest.kind and r.id = newest.object_id
               left join sandbox.resources p on p.kind = 'payment' and p.id = r.parent_id) recent
      where $1::text is null or "orderId" = $1
      order by seq desc
      limit $2`,
    [wanted.orderId ?? null, wanted.limit],
  );
}

/** Counts and amounts in minor units, by kind, status and currency. */
export function sumAllResources(db: Queryable): Promise<ResourceSum[]> {
  return db.query(
    `select kind, status, currency, count(*) as count,
            sum((state->>'amount')::bigint)::bigint as amount,
            coalesce(sum((state->>'amount_received')::bigint), 0)::bigint as amount_received,
            coalesce(sum((state->>'attempt_count')::bigint), 0)::bigint as attempts
       from sandbox.resources
      group by kind, status, currency
      order by kind, status, currency
      limit 10000`,
  );
}

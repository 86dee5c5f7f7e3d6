/** All resources as they are stored, by id, and their sums. */
import type { ResourceKind } from '../../contract/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Resource } from '../domain/resource.ts';

/** Resources of a kind by id. */
export function listAllResources(
  db: Queryable,
  page: { readonly kind: ResourceKind; readonly after: string; readonly limit: number },
): Promise<Resource[]> {
  return db.query(
    `select kind, state from sandbox.resources
      where kind = $1 and id > $2
      order by id
      limit $3`,
    [page.kind, page.after, page.limit],
  );
}

export interface ResourceSum {
  readonly kind: ResourceKind;
  readonly status: string;
  readonly currency: string;
  readonly count: number;
  readonly amount: number;
  readonly amount_received: number;
  /** Times that a payment was sent to the processor. */
  readonly attempts: number;
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

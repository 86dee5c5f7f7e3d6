/** Statements that find what an id names. Each reaches its rows by an index, and few of them. */
import type { Queryable } from '../../../platform/db/database.ts';
import { RESOURCE_COLUMNS, type ResourceSummary } from './resourceColumns.ts';

export interface FoundResource extends ResourceSummary {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  readonly reference: string | null;
  /** The service's time of creation, or the time at which Tallyhook first saw it. */
  readonly seenAt: Date;
}

const FOUND_COLUMNS = `${RESOURCE_COLUMNS},
  payment_id as "paymentId", order_key as "orderKey", reference,
  coalesce(created_at, first_seen_at) as "seenAt"`;

/** Resources of this id; one of each kind may have it, so there are at most four. */
export function findResources(db: Queryable, id: string): Promise<readonly FoundResource[]> {
  return db.query<FoundResource>(
    `select ${FOUND_COLUMNS}
       from resources
      where kind in ('payment', 'refund', 'dispute', 'payout') and id = $1
      order by kind
      limit 4`,
    [id],
  );
}

/** Payouts that carry this as their `merchant_order_reference_id`, by id, after one if it is given. */
export function findPayoutsByReference(
  db: Queryable,
  reference: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly FoundResource[]> {
  return db.query<FoundResource>(
    `select ${FOUND_COLUMNS}
       from resources
      where kind = 'payout' and reference = $1 and ($2::text is null or id > $2)
      order by id
      limit $3`,
    [reference, after ?? null, limit],
  );
}

/** Statements that find what an id names. Each reaches its rows by an index, and few of them. */
import type { Queryable } from '../../../platform/db/database.ts';
import { RESOURCE_COLUMNS, type ResourceSummary } from './resourceColumns.ts';

export interface FoundResource extends ResourceSummary {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  readonly reference: string | null;
}

const FOUND_COLUMNS = `${RESOURCE_COLUMNS},
  payment_id as "paymentId", order_key as "orderKey", reference`;

/** Resources of this id; one of each kind may have it. */
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

/** Payouts that carry this as their `merchant_order_reference_id`. */
export function findPayoutsByReference(
  db: Queryable,
  reference: string,
  limit: number,
): Promise<readonly FoundResource[]> {
  return db.query<FoundResource>(
    `select ${FOUND_COLUMNS}
       from resources
      where kind = 'payout' and reference = $1
      order by id
      limit $2`,
    [reference, limit],
  );
}

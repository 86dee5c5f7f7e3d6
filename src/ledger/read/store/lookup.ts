/** Statements that find what an id names. Each reaches its rows by an index, and few of them. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';

export interface FoundResource {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  readonly reference: string | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly reason: string | null;
  readonly reasonCode: string | null;
  readonly uncertainties: readonly string[];
}

const FOUND_COLUMNS = `
  kind, id, status, stage, currency, amount_minor as "amountMinor", payment_id as "paymentId",
  order_key as "orderKey", reference, unified_code as "unifiedCode",
  unified_message as "unifiedMessage", error_code as "errorCode", error_message as "errorMessage",
  reason, reason_code as "reasonCode", uncertainties`;

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

/** Statements that read single resources for programs. */
import type { Queryable } from '../../../platform/db/database.ts';
import { PART_COLUMNS, type PartSummary } from './parts.ts';

/** A resource as the ledger holds it. */
export interface ResourceDetail extends PartSummary {
  readonly orderKey: string | null;
  readonly netAmountMinor: number | null;
  readonly captureMethod: string | null;
  readonly updatedAt: Date;
}

const COLUMNS = `${PART_COLUMNS},
  order_key as "orderKey", net_amount_minor as "netAmountMinor", capture_method as "captureMethod",
  updated_at as "updatedAt"`;

/** One payment. */
export async function readPaymentDetail(
  db: Queryable,
  paymentId: string,
): Promise<ResourceDetail | undefined> {
  const rows = await db.query<ResourceDetail>(
    `select ${COLUMNS} from resources where kind = 'payment' and id = $1`,
    [paymentId],
  );
  return rows[0];
}

/** Refunds and disputes of a payment, oldest first. */
export function readPaymentChildren(
  db: Queryable,
  { paymentId, limit }: { readonly paymentId: string; readonly limit: number },
): Promise<readonly ResourceDetail[]> {
  return db.query<ResourceDetail>(
    `select ${COLUMNS}
       from resources
      where payment_id = $1 and kind in ('refund', 'dispute')
      order by created_at, kind, id
      limit $2`,
    [paymentId, limit],
  );
}

/** Statements that read the whole ledger, page by page, to hold it against something else. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';

/** A resource in the ledger. Amounts in minor units of its currency. */
export interface WholeResource {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly orderKey: string | null;
  readonly status: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
}

/** Resources in the order of their names; the first page comes after `''`. */
export function readResourcePage(
  db: Queryable,
  page: { readonly after: { readonly kind: string; readonly id: string }; readonly limit: number },
): Promise<readonly WholeResource[]> {
  return db.query<WholeResource>(
    `select kind, id, order_key as "orderKey", status, currency, amount_minor as "amountMinor",
            captured_minor as "capturedMinor"
       from resources
      where (kind, id) > ($1, $2)
      order by kind, id
      limit $3`,
    [page.after.kind, page.after.id, page.limit],
  );
}

/** Totals of an order in one currency, in minor units. */
export interface WholeTotals {
  readonly orderKey: string;
  readonly currency: string;
  readonly capturedMinor: number;
  readonly refundedMinor: number;
  readonly chargedBackMinor: number;
}

/** Totals in the order of their keys; the first page comes after `''`. */
export function readTotalsPage(
  db: Queryable,
  page: {
    readonly after: { readonly orderKey: string; readonly currency: string };
    readonly limit: number;
  },
): Promise<readonly WholeTotals[]> {
  return db.query<WholeTotals>(
    `select order_key as "orderKey", currency, captured_minor as "capturedMinor",
            refunded_minor as "refundedMinor", charged_back_minor as "chargedBackMinor"
       from order_totals
      where (order_key, currency) > ($1, $2)
      order by order_key, currency
      limit $3`,
    [page.after.orderKey, page.after.currency, page.limit],
  );
}

/** How many events wait to be applied. */
export async function countPending(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from pending');
  return row?.count ?? 0;
}

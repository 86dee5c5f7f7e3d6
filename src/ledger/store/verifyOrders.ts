/** Statements that read orders for verify. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { StoredOrder, StoredTotals } from '../domain/checkOrder.ts';
import type { NamedPart } from '../domain/orderFindings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

export interface KeyRange {
  readonly afterKey: string;
  readonly limit: number;
}

/** The next keys of orders, totals and parts, in order. */
export async function readOrderKeys(
  tx: Queryable,
  { afterKey, limit }: KeyRange,
): Promise<readonly string[]> {
  const rows = await tx.query<{ orderKey: string }>(
    `select order_key as "orderKey"
       from ((select order_key from orders where order_key > $1 order by order_key limit $2)
             union
             (select distinct order_key from order_totals
               where order_key > $1 order by order_key limit $2)
             union
             (select distinct order_key from resources
               where order_key > $1 order by order_key limit $2)) named
      order by order_key
      limit $2`,
    [afterKey, limit],
  );
  return rows.map(({ orderKey }) => orderKey);
}

/** Named orders; those that do not exist are missing. */
export function readStoredOrders(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly StoredOrder[]> {
  return tx.query<StoredOrder>(
    `select order_key as "orderKey", order_id as "orderId", status, moved_to as "movedTo",
            open_findings as "openFindings"
       from orders
      where order_key = any ($1::text[])
      limit $2`,
    [orderKeys, orderKeys.length],
  );
}

/** Every total of the named orders. */
export function readStoredTotals(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly (StoredTotals & { readonly orderKey: string })[]> {
  return tx.query(
    `select order_key as "orderKey", currency, status, authorized_minor::text as "authorizedMinor",
            captured_minor::text as "capturedMinor", refunded_minor::text as "refundedMinor",
            refund_pending_minor::text as "refundPendingMinor",
            disputed_minor::text as "disputedMinor", charged_back_minor::text as "chargedBackMinor"
       from order_totals
      where order_key = any ($1::text[])`,
    [orderKeys],
  );
}

/** A part of an order with its name. */
export interface StoredPart extends NamedPart {
  readonly ref: ResourceRef;
  readonly orderKey: string;
}

/** A part as read. Amounts are text, because a damaged one may have any size. */
export interface PartRow {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly paymentId: string | null;
  readonly orderKey: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: string | null;
  readonly authorizedMinor: string;
  readonly capturedMinor: string;
}

export function toPart({ kind, id, paymentId, orderKey, ...row }: PartRow): StoredPart {
  return {
    ref: { kind, id },
    kind,
    id,
    paymentId,
    orderKey,
    status: row.status ?? undefined,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor === null ? undefined : Number(row.amountMinor),
    authorizedMinor: Number(row.authorizedMinor),
    capturedMinor: Number(row.capturedMinor),
  };
}

/** Every part of the named orders. */
export async function readStoredParts(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly StoredPart[]> {
  const rows = await tx.query<PartRow>(
    `select kind, id, payment_id as "paymentId", order_key as "orderKey", status, stage, currency,
            amount_minor::text as "amountMinor", authorized_minor::text as "authorizedMinor",
            captured_minor::text as "capturedMinor"
       from resources
      where order_key = any ($1::text[])`,
    [orderKeys],
  );
  return rows.map(toPart);
}

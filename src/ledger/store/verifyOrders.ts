/** Statements that read orders for verify. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ChangeSubject } from '../domain/changes.ts';
import type { StoredOrder, StoredTotals } from '../domain/checkOrder.ts';
import type { NamedPart } from '../domain/orderFindings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

export interface KeyRange {
  readonly afterKey: string;
  /** The last key to read; undefined: to the end. */
  readonly untilKey: string | undefined;
  readonly limit: number;
}

/** The next keys of orders, totals and parts, in order. */
export async function readOrderKeys(
  tx: Queryable,
  { afterKey, untilKey, limit }: KeyRange,
): Promise<readonly string[]> {
  const rows = await tx.query<{ orderKey: string }>(
    `select order_key as "orderKey"
       from ((select order_key from orders
               where order_key > $1 and ($3::text is null or order_key <= $3)
               order by order_key limit $2)
             union
             (select distinct order_key from order_totals
               where order_key > $1 and ($3::text is null or order_key <= $3)
               order by order_key limit $2)
             union
             (select distinct order_key from resources
               where order_key > $1 and ($3::text is null or order_key <= $3)
               order by order_key limit $2)) named
      order by order_key
      limit $2`,
    [afterKey, limit, untilKey ?? null],
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

/** A change of the feed. */
export interface ChangedSubject {
  readonly number: number;
  readonly kind: ChangeSubject;
  readonly id: string;
  readonly orderKey: string | null;
  /** No later change, up to the last planned one, names the same order. */
  readonly isLast: boolean;
}

/** The next changes in the order of their numbers. @param last the last planned change */
export function readChangedSubjects(
  tx: Queryable,
  range: {
    readonly after: number;
    readonly until: number;
    readonly last: number;
    readonly limit: number;
  },
): Promise<readonly ChangedSubject[]> {
  return tx.query<ChangedSubject>(
    `select c.number, c.kind, c.id, c.order_key as "orderKey",
            not exists (select from changes l
                         where l.order_key = c.order_key and l.number > c.number
                           and l.number <= $3) as "isLast"
       from changes c
      where c.number > $1 and c.number <= $2
      order by c.number
      limit $4`,
    [range.after, range.until, range.last, range.limit],
  );
}

/** Those keys that the ledger has; of an order that the shop only registered it has nothing. */
export async function readKnownOrderKeys(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.query<{ orderKey: string }>(
    `select wanted.order_key as "orderKey"
       from unnest($1::text[]) as wanted (order_key)
      where exists (select from orders o where o.order_key = wanted.order_key)
         or exists (select from order_totals t where t.order_key = wanted.order_key)
         or exists (select from resources r where r.order_key = wanted.order_key)
      order by 1
      limit $2`,
    [orderKeys, orderKeys.length],
  );
  return rows.map(({ orderKey }) => orderKey);
}

/** The resources of the named orders. `offset 0` as for snapshots. */
export function readRefsOfOrders(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly ResourceRef[]> {
  return tx.query<ResourceRef>(
    `select r.kind, r.id
       from unnest($1::text[]) as wanted (order_key)
      cross join lateral (select r.kind, r.id from resources r
                           where r.order_key = wanted.order_key offset 0) r`,
    [orderKeys],
  );
}

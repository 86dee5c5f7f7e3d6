/** Statements on the four kinds of resource. */
import type { ResourceKind } from '../../../contract/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { type Resource, searchFields } from '../../domain/resource.ts';
import type {
  DueResource,
  NextDue,
  PastResource,
  RefundTotals,
  ReplacedResource,
} from '../resources.ts';

/**
 * Inserts a resource.
 * @param recordedAt ISO 8601, by the sandbox's own clock
 * @returns false when the id exists; of concurrent inserts of one id, one succeeds
 */
export async function insertResource(
  tx: Queryable,
  resource: Resource,
  recordedAt: string,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into sandbox.resources
       (kind, id, parent_id, status, currency, customer_id, created_at, modified_at, due_at, state,
        recorded_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (kind, id) do nothing
     returning id`,
    [...columnsOf(resource), recordedAt],
  );
  return rows.length === 1;
}

/**
 * Writes a changed resource. Its row is locked by the caller.
 * @param recordedAt ISO 8601, by the sandbox's own clock
 */
export async function updateResource(
  tx: Queryable,
  resource: Resource,
  recordedAt: string,
): Promise<void> {
  await tx.query(
    `update sandbox.resources
        set parent_id = $3, status = $4, currency = $5, customer_id = $6,
            created_at = $7, modified_at = $8, due_at = $9, state = $10, recorded_at = $11
      where kind = $1 and id = $2`,
    [...columnsOf(resource), recordedAt],
  );
}

function columnsOf(resource: Resource): readonly unknown[] {
  const fields = searchFields(resource);
  return [
    resource.kind,
    fields.id,
    fields.parentId ?? null,
    fields.status,
    fields.currency,
    fields.customerId ?? null,
    fields.createdAt,
    fields.modifiedAt,
    fields.dueAt ?? null,
    JSON.stringify(resource.state),
  ];
}

/** Reads a resource and locks its row until the transaction ends. */
export async function lockResource(
  tx: Queryable,
  kind: ResourceKind,
  id: string,
): Promise<Resource | undefined> {
  const rows = await tx.query<Resource>(
    'select kind, state from sandbox.resources where kind = $1 and id = $2 for update',
    [kind, id],
  );
  return rows[0];
}

export async function readResource(
  db: Queryable,
  kind: ResourceKind,
  id: string,
): Promise<Resource | undefined> {
  const rows = await db.query<Resource>(
    'select kind, state from sandbox.resources where kind = $1 and id = $2',
    [kind, id],
  );
  return rows[0];
}

/** A resource at a past time; undefined where it did not exist then. @param asOf ISO 8601 */
export async function readPastResource(
  db: Queryable,
  { kind, id, asOf }: PastResource,
): Promise<Resource | undefined> {
  const rows = await db.query<Resource>(
    `select kind, state from sandbox.resources
      where kind = $1 and id = $2 and coalesce(recorded_at, modified_at) <= $3
      union all
     select kind, state from sandbox.past_resources
      where kind = $1 and id = $2 and coalesce(recorded_at, modified_at) <= $3 and valid_until > $3
      limit 1`,
    [kind, id, asOf],
  );
  return rows[0];
}

/**
 * Copies a resource before a change, for lists and retrieves that show an older time.
 * @param validUntil ISO 8601: the time of the change
 */
export async function insertPastResource(
  tx: Queryable,
  { kind, id, validUntil }: ReplacedResource,
): Promise<void> {
  await tx.query(
    `insert into sandbox.past_resources
       (kind, id, parent_id, status, currency, customer_id, created_at, modified_at, state,
        recorded_at, valid_until)
     select kind, id, parent_id, status, currency, customer_id, created_at, modified_at, state,
            recorded_at, $3
       from sandbox.resources
      where kind = $1 and id = $2`,
    [kind, id, validUntil],
  );
}

/** Totals of a payment's refunds. The payment is locked by the caller. */
export async function readRefundTotals(tx: Queryable, paymentId: string): Promise<RefundTotals> {
  const rows = await tx.query<RefundTotals>(
    `select coalesce(sum((state->>'amount')::bigint) filter (where status <> 'failed'), 0)::bigint
              as "refundedMinor",
            count(*) as "refundCount"
       from sandbox.resources
      where kind = 'refund' and parent_id = $1`,
    [paymentId],
  );
  return rows[0] ?? { refundedMinor: 0, refundCount: 0 };
}

/** Locks resources with something due, earliest first. @returns at most `limit`, with when it is due */
export function lockDue(
  tx: Queryable,
  { until, limit }: { readonly until: Date; readonly limit: number },
): Promise<DueResource[]> {
  return tx.query(
    `select kind, state, due_at as "dueAt"
       from sandbox.resources
      where due_at <= $1
      order by due_at, kind, id
      limit $2
        for update`,
    [until, limit],
  );
}

/**
 * The next due times of resources and of deliveries.
 * @param inFlight ids of deliveries to leave out
 */
export async function nextDue(db: Queryable, inFlight: readonly number[]): Promise<NextDue> {
  const rows = await db.query<NextDue>(
    `select (select min(due_at) from sandbox.resources where due_at is not null) as "resourceAt",
            (select min(due_at) from sandbox.deliveries
              where sent_at is null and id <> all($1)) as "deliveryAt"`,
    [inFlight],
  );
  return rows[0] ?? { resourceAt: null, deliveryAt: null };
}

/** Statements that read resources, to compare them with what the service has. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';

/** Both bounds included. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `fromMs` included, `endMs` not. */
interface Days {
  readonly fromMs: number;
  readonly endMs: number;
}

export interface LocalRow {
  readonly id: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly versionMicros: number | null;
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  readonly createdAt: Date | null;
  /**
   * The ledger waits for a retrieve of it: claimed or not, because the process that claimed it may be dead, or
   * again, because an earlier one left it uncertain.
   */
  readonly awaitsRetrieve: boolean;
  /** More of its hold may be captured, although its status is final: the contract has no other one after a part. */
  readonly mayCaptureMore: boolean;
}

const COLUMNS = `
  id, status, stage, currency, amount_minor as "amountMinor", captured_minor as "capturedMinor",
  version_micros as "versionMicros", payment_id as "paymentId", order_key as "orderKey",
  created_at as "createdAt",
  is_check_wanted or contradiction is not null
    -- A response that does not state it either settles this one: tomorrow's will not.
    or array_remove(uncertainties, 'unstated_capture') <> '{}' as "awaitsRetrieve",
  kind = 'payment' and status = 'succeeded' and captured_minor < authorized_minor
    and coalesce(capture_method, 'manual_multiple') = 'manual_multiple'
    -- A day later than the hold ends, so that the last capture is seen.
    and coalesce(deadline_at, created_at + interval '7 days', 'infinity') > now() - interval '1 day'
    as "mayCaptureMore"`;

/** Reads resources of one kind by their ids, as many as there are. */
export function readLocalByIds(
  db: Queryable,
  kind: ResourceKind,
  ids: readonly string[],
): Promise<readonly LocalRow[]> {
  return db.query<LocalRow>(
    `select ${COLUMNS} from resources where kind = $1 and id = any ($2::text[])`,
    [kind, ids],
  );
}

/** Reads ids of resources created in a span, ordered, beyond `after`; both bounds included. */
export async function readIdsCreated(
  db: Queryable,
  kind: ResourceKind,
  { span, after, limit }: { readonly span: Span; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from resources
      where kind = $1 and created_at between $2 and $3 and id > $4
      order by id
      limit $5`,
    [kind, new Date(span.fromMs), new Date(span.toMs), after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Reads in which days resources of a kind were created. @param days their starts */
export async function readDaysCreated(
  db: Queryable,
  kind: ResourceKind,
  days: readonly Date[],
): Promise<readonly Date[]> {
  const rows = await db.query<{ day: Date }>(
    `select day from unnest($2::timestamptz[]) as day
      where exists (select from resources
                     where kind = $1 and created_at >= day and created_at < day + interval '24 hours')
      limit $3`,
    [kind, days, days.length],
  );
  return rows.map(({ day }) => day);
}

/** When the row was created that is `rows` rows after `fromMs`. @returns undefined where there are fewer */
export async function readEdgeMs(
  db: Queryable,
  kind: ResourceKind,
  { span, rows }: { readonly span: Span; readonly rows: number },
): Promise<number | undefined> {
  const found = await db.query<{ at: Date }>(
    `select created_at as at from resources
      where kind = $1 and created_at > $2 and created_at <= $3
      order by created_at
     offset $4 limit 1`,
    [kind, new Date(span.fromMs), new Date(span.toMs), rows],
  );
  return found[0]?.at.getTime();
}

/** Counts resources of a kind created in a span, by status and currency; both bounds included. */
export function countCreated(
  db: Queryable,
  kind: ResourceKind,
  span: Span,
): Promise<readonly { status: string | null; currency: string | null; count: number }[]> {
  return db.query(
    `select status, currency, count(*) as count from resources
      where kind = $1 and created_at between $2 and $3
      group by status, currency
      limit 10000`,
    [kind, new Date(span.fromMs), new Date(span.toMs)],
  );
}

/**
 * Sums what was captured of a kind created in these days, by currency. Read as text: a sum may exceed
 * the numbers that the driver parses.
 */
export async function sumReceived(
  db: Queryable,
  kind: ResourceKind,
  { fromMs, endMs }: Days,
): Promise<readonly (readonly [currency: string, sum: bigint])[]> {
  const rows = await db.query<{ currency: string; sum: string }>(
    `select currency, sum(captured_minor)::text as sum from resources
      where kind = $1 and created_at >= $2 and created_at < $3 and currency is not null
      group by currency
      limit 10000`,
    [kind, new Date(fromMs), new Date(endMs)],
  );
  return rows.map(({ currency, sum }) => [currency, BigInt(sum)]);
}

/** When the first and the last resource of a kind were created. @returns undefined where there is none */
export async function readCreatedBounds(
  db: Queryable,
  kind: ResourceKind,
): Promise<{ readonly firstMs: number; readonly lastMs: number } | undefined> {
  const rows = await db.query<{ first: Date | null; last: Date | null }>(
    `select min(created_at) as first, max(created_at) as last from resources
      where kind = $1 and created_at is not null`,
    [kind],
  );
  const { first = null, last = null } = rows[0] ?? {};
  return first && last ? { firstMs: first.getTime(), lastMs: last.getTime() } : undefined;
}

/** Finds payments of these days that have one of these statuses or are uncertain. */
export async function findUncertain(
  db: Queryable,
  { fromMs, endMs }: Days,
  { statuses, limit }: { readonly statuses: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from resources
      where kind = 'payment' and created_at >= $1 and created_at < $2
        and (status = any ($3::text[]) or uncertainties <> '{}')
      order by id
      limit $4`,
    [new Date(fromMs), new Date(endMs), statuses, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Statements that read the history of one order beside its snapshots and transfers, which
 * explain.ts reads. The newest rows first.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { ExpectationHistory, FindingHistory, StatusHistory } from '../../domain/history.ts';

export interface HistoryRequest {
  readonly orderKey: string;
  readonly limit: number;
}

/** Steps of an order's status, as far as the change feed has numbered them. */
export function readStatusHistory(
  db: Queryable,
  { orderKey, limit }: HistoryRequest,
): Promise<readonly StatusHistory[]> {
  return db.query<StatusHistory>(
    `select c.number, c.status, c.previous_status as "previousStatus",
            (extract(epoch from c.changed_at) * 1000000)::bigint as "changedMicros",
            e.id as "eventNumber", e.event_id as "eventId"
       from changes c
       left join webhook_events e on e.id = c.webhook_event_id
      where c.order_key = $1 and c.change = 'status'
      order by c.number desc
      limit $2`,
    [orderKey, limit],
  );
}

/** What the shop registered about an order. */
export function readExpectationHistory(
  db: Queryable,
  { orderKey, limit }: HistoryRequest,
): Promise<readonly ExpectationHistory[]> {
  return db.query<ExpectationHistory>(
    `select currency, amount_minor as "amountMinor",
            (extract(epoch from registered_at) * 1000000)::bigint as "registeredMicros",
            registered_by as "registeredBy"
       from order_expectations
      where order_key = $1
      order by id desc
      limit $2`,
    [orderKey, limit],
  );
}

/** Findings about subjects. */
export function readFindingHistory(
  db: Queryable,
  { subjects, limit }: { readonly subjects: readonly string[]; readonly limit: number },
): Promise<readonly FindingHistory[]> {
  return db.query<FindingHistory>(
    `select id, class, subject, detail,
            (extract(epoch from opened_at) * 1000000)::bigint as "openedMicros",
            (extract(epoch from closed_at) * 1000000)::bigint as "closedMicros"
       from findings
      where subject = any ($1::text[])
      order by id desc
      limit $2`,
    [subjects, limit],
  );
}

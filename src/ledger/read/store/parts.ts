/** Statements that read the ledger for people and their programs. All are bounded. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { NOT_APPLIED_CLASSES } from '../../domain/findings.ts';
import type { OrderTotals } from '../../domain/order.ts';
import { RESOURCE_COLUMNS, type ResourceSummary } from './resourceColumns.ts';

export interface OrderTotalsRow extends OrderTotals {
  readonly orderKey: string;
}

/** Totals of orders, by currency. */
export function readTotals(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<readonly OrderTotalsRow[]> {
  return db.query<OrderTotalsRow>(
    `select order_key as "orderKey", currency, status, authorized_minor as "authorizedMinor",
            captured_minor as "capturedMinor", refunded_minor as "refundedMinor",
            refund_pending_minor as "refundPendingMinor", disputed_minor as "disputedMinor",
            charged_back_minor as "chargedBackMinor"
       from order_totals
      where order_key = any ($1::text[])
      order by order_key, currency
      limit 10000`,
    [orderKeys],
  );
}

export interface PartSummary extends ResourceSummary {
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly openFindings: readonly string[];
  readonly createdAt: Date | null;
  readonly deadlineAt: Date | null;
}

export const PART_COLUMNS = `${RESOURCE_COLUMNS},
  authorized_minor as "authorizedMinor", captured_minor as "capturedMinor",
  open_findings as "openFindings", created_at as "createdAt", deadline_at as "deadlineAt"`;

/** Payments first. */
export const PART_ORDER = `
  case kind when 'payment' then 0 when 'refund' then 1 else 2 end, created_at, id`;

/** The most parts of an order that are returned; one more is read, which shows whether there are more. */
export const MAX_PARTS = 1_000;

/** The parts of an order, payments first; one more than `MAX_PARTS`, if there are so many. */
export function readOrderParts(db: Queryable, orderKey: string): Promise<readonly PartSummary[]> {
  return db.query<PartSummary>(
    `select ${PART_COLUMNS}
       from resources
      where order_key = $1
      order by ${PART_ORDER}
      limit ${MAX_PARTS + 1}`,
    [orderKey],
  );
}

/** The place of a part in the pages of an order's parts. */
export interface PartPlace {
  readonly kind: ResourceKind;
  readonly id: string;
}

const KIND_RANK = (kind: string) =>
  `case ${kind} when 'payment' then 0 when 'refund' then 1 else 2 end`;

/** The parts of an order after a place: payments, then refunds, then disputes, each by id. */
export function readPartPage(
  db: Queryable,
  orderKey: string,
  { after, limit }: { readonly after: PartPlace | undefined; readonly limit: number },
): Promise<readonly PartSummary[]> {
  return db.query<PartSummary>(
    `select ${PART_COLUMNS}
       from resources
      where order_key = $1
        and ($2::text is null or (${KIND_RANK('kind')}, id) > (${KIND_RANK('$2::text')}, $3::text))
      order by ${KIND_RANK('kind')}, id
      limit $4`,
    [orderKey, after?.kind ?? null, after?.id ?? null, limit],
  );
}

/** States of an event in the inbox, by which events are listed. */
export const EVENT_STATES = ['pending', 'applied', 'not_applied', 'dead', 'discarded'] as const;
export type EventState = (typeof EVENT_STATES)[number];

export interface EventSummary {
  readonly id: number;
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly merchantId: string | null;
  readonly receivedAt: Date;
  /**
   * Of the secret that verified it (platform/secretFingerprint.ts), as people see it; null if an older
   * version received it.
   */
  readonly secretFingerprint: string | null;
  readonly state: EventState;
  readonly attempts: number;
  readonly error: string | null;
  /** Of a dead event that a person discarded. */
  readonly discardedAt: Date | null;
  readonly discardedBy: string | null;
  readonly discardedReason: string | null;
}

/** Classes of findings about events that posted nothing, as a list in SQL. */
export const NOT_APPLIED = `(${NOT_APPLIED_CLASSES.map((name) => `'${name}'`).join(', ')})`;

/** Events with their state, to be narrowed by a condition on `e`. */
export const EVENT_SELECT = `
  select e.id, e.event_id as "eventId", e.event_type as "eventType", e.merchant_id as "merchantId",
         e.received_at as "receivedAt",
         lpad(to_hex(e.secret_fingerprint), 8, '0') as "secretFingerprint", s.state,
         coalesce(d.attempts, p.attempts, 0) as attempts,
         d.error, d.discarded_at as "discardedAt", d.discarded_by as "discardedBy",
         d.discarded_reason as "discardedReason"
    from webhook_events e
    left join pending p on p.webhook_event_id = e.id
    left join dead_events d on d.webhook_event_id = e.id
   cross join lateral (
     select case
              when d.discarded_at is not null then 'discarded'
              when d.webhook_event_id is not null then 'dead'
              when p.webhook_event_id is not null then 'pending'
              when exists (select from findings f
                            where f.subject = 'event:' || e.id and f.state = 'open'
                              and f.class in ${NOT_APPLIED})
              then 'not_applied'
              else 'applied'
            end as state) s`;

/** The event that an id names: the service's event id, else the number of its inbox row. */
export async function findEvent(db: Queryable, id: string): Promise<EventSummary | undefined> {
  const inboxId = /^\d{1,15}$/.test(id) ? Number(id) : null;
  const rows = await db.query<EventSummary>(
    `${EVENT_SELECT} where e.event_id = $1 or e.id = $2 order by e.event_id = $1 desc nulls last limit 1`,
    [id, inboxId],
  );
  return rows[0];
}

/** Whether a text is an inbox number below that of a stored event. */
export async function isNumberPassed(db: Queryable, id: string): Promise<boolean> {
  if (!/^\d{1,15}$/.test(id)) return false;
  const rows = await db.query('select id from webhook_events where id > $1 limit 1', [id]);
  return rows.length > 0;
}

export interface EventRow {
  readonly id: number;
  readonly bodyDay: string | null;
  readonly findings: readonly EventFinding[];
}

export interface EventFinding {
  readonly id: number;
  readonly class: string;
  readonly state: string;
  readonly detail: unknown;
}

/** What is kept of one event, besides its bodies. @param findings how many findings at most */
export async function readEventRow(
  db: Queryable,
  id: number,
  { findings }: { readonly findings: number },
): Promise<EventRow | undefined> {
  const rows = await db.query<EventRow>(
    `select e.id, e.body_day::text as "bodyDay",
            coalesce((select jsonb_agg(jsonb_build_object('id', f.id, 'class', f.class,
                                                          'state', f.state, 'detail', f.detail)
                                       order by f.id)
                        from (select id, class, state, detail from findings
                               where subject = 'event:' || e.id order by id limit $2) f),
                     '[]') as findings
       from webhook_events e
      where e.id = $1`,
    [id, findings],
  );
  return rows[0];
}

/** A page of a list in the order of numbers. */
export interface NumberPage {
  readonly after: number | undefined;
  readonly limit: number;
}

/** An open finding about an event with a version that counted as one from the future. */
export interface VersionAhead {
  readonly findingId: number;
  readonly eventNumber: number;
}

/** Open findings about versions from the future, in their order. */
export function readVersionAhead(
  db: Queryable,
  { after, limit }: NumberPage,
): Promise<readonly VersionAhead[]> {
  return db.query<VersionAhead>(
    `select id as "findingId", substr(subject, length('event:') + 1)::bigint as "eventNumber"
       from findings
      where class = 'version_ahead' and state = 'open' and subject like 'event:%' and id > $1
      order by id
      limit $2`,
    [after ?? 0, limit],
  );
}

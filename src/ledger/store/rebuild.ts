/**
 * Statements on a ledger that is rebuilt beside the live one, in temporary tables. These belong to one
 * session, need no privileges on the schema, write no WAL, and are dropped when the session ends.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ResourceRef, Snapshot, SnapshotContent } from '../domain/snapshot.ts';
import { refColumns } from './resources.ts';
import { type PartRow, type StoredPart, toPart } from './verifyOrders.ts';

/** Creates the tables. Observations are indexed after all are inserted, which is faster. */
export async function createRebuildTables(session: Queryable): Promise<void> {
  await session.query(
    `create temporary table rebuilt_observations (
       kind text not null,
       id text not null,
       webhook_event_id bigint not null,
       -- Null if the event only mentions the resource.
       content json,
       -- What earlier versions may have read from the same body.
       earlier json not null,
       observed_micros bigint
     )`,
  );
  await session.query(
    `create temporary table rebuilt_resources (
       kind text not null,
       id text not null,
       payment_id text,
       -- Payments only; refunds and disputes are filed with their payment.
       order_key text,
       status text,
       stage text,
       currency text,
       amount_minor bigint,
       authorized_minor bigint not null,
       captured_minor bigint not null,
       primary key (kind, id)
     )`,
  );
  await session.query('create index on rebuilt_resources (order_key)');
  await session.query('create index on rebuilt_resources (payment_id)');
}

/** What an earlier version may have read from a body, if it reads less than this one. */
export type EarlierReading = Pick<Snapshot, 'content' | 'observedMicros'>;

/** An observation by an event, or a mention of the resource. */
export interface KeptObservation {
  readonly ref: ResourceRef;
  readonly webhookEventId: number;
  readonly content: SnapshotContent | undefined;
  readonly earlier: readonly EarlierReading[];
  readonly observedMicros: number | undefined;
}

export async function insertObservations(
  tx: Queryable,
  observations: readonly KeptObservation[],
): Promise<void> {
  await tx.query(
    `insert into rebuilt_observations (kind, id, webhook_event_id, content, earlier, observed_micros)
     select kind, id, event, content, earlier, observed
       from unnest($1::text[], $2::text[], $3::bigint[], $4::json[], $5::json[], $6::bigint[])
            as u (kind, id, event, content, earlier, observed)`,
    [
      ...refColumns(observations.map(({ ref }) => ref)),
      observations.map(({ webhookEventId }) => webhookEventId),
      observations.map(({ content }) => toJson(content)),
      observations.map(({ earlier }) =>
        JSON.stringify(earlier.map(({ content, observedMicros }) => ({ content, observedMicros }))),
      ),
      observations.map(({ observedMicros }) => observedMicros ?? null),
    ],
  );
}

function toJson(content: SnapshotContent | undefined): string | null {
  return content === undefined ? null : JSON.stringify(content);
}

export async function indexObservations(session: Queryable): Promise<void> {
  await session.query('create index on rebuilt_observations (kind, id)');
  await session.query('analyze rebuilt_observations');
}

export async function analyzeRebuilt(session: Queryable): Promise<void> {
  await session.query('analyze rebuilt_resources');
}

/** Observations of the named resources, including mentions. */
export async function readObservations(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly KeptObservation[]> {
  const rows = await tx.query<
    ResourceRef & {
      readonly webhookEventId: number;
      readonly content: SnapshotContent | null;
      readonly earlier: readonly EarlierReading[];
      readonly observedMicros: number | null;
    }
  >(
    `select l.kind, l.id, l.webhook_event_id as "webhookEventId", l.content,
            l.earlier, l.observed_micros as "observedMicros"
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
      cross join lateral (select l.kind, l.id, l.webhook_event_id, l.content,
                                 l.earlier, l.observed_micros
                            from rebuilt_observations l
                           where l.kind = wanted.kind and l.id = wanted.id offset 0) l`,
    refColumns(refs),
  );
  return rows.map(({ kind, id, webhookEventId, content, earlier, observedMicros }) => ({
    ref: { kind, id },
    webhookEventId,
    content: content ?? undefined,
    earlier,
    observedMicros: observedMicros ?? undefined,
  }));
}

/** The next resources that are in the ledger, were observed, or have stored snapshots. */
export function readRebuiltRefs(
  tx: Queryable,
  { after, limit }: { readonly after: ResourceRef | undefined; readonly limit: number },
): Promise<readonly ResourceRef[]> {
  return tx.query<ResourceRef>(
    `select kind, id
       from ((select kind, id from resources
               where (kind, id) > ($1, $2) order by kind, id limit $3)
             union
             (select distinct kind, id from rebuilt_observations
               where (kind, id) > ($1, $2) order by kind, id limit $3)
             union
             (select distinct kind, resource_id from snapshots
               where (kind, resource_id) > ($1, $2) order by kind, resource_id limit $3)) named
      order by kind, id
      limit $3`,
    [after?.kind ?? '', after?.id ?? '', limit],
  );
}

/** The fields of a rebuilt resource that orders need. */
export interface RebuiltPart {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly payment_id: string | null;
  readonly order_key: string | null;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount_minor: number | null;
  readonly authorized_minor: number;
  readonly captured_minor: number;
}

export async function insertRebuilt(tx: Queryable, parts: readonly RebuiltPart[]): Promise<void> {
  await tx.query(
    `insert into rebuilt_resources (kind, id, payment_id, order_key, status, stage, currency,
                                    amount_minor, authorized_minor, captured_minor)
     select kind, id, payment_id, order_key, status, stage, currency, amount_minor,
            authorized_minor, captured_minor
       from jsonb_to_recordset($1::jsonb) as u (
              kind text, id text, payment_id text, order_key text, status text, stage text,
              currency text, amount_minor bigint, authorized_minor bigint, captured_minor bigint)`,
    [JSON.stringify(parts)],
  );
}

/** The next keys of orders that are in the ledger or were rebuilt. */
export async function readRebuiltOrderKeys(
  tx: Queryable,
  { afterKey, limit }: { readonly afterKey: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await tx.query<{ orderKey: string }>(
    `select order_key as "orderKey"
       from ((select order_key from orders where order_key > $1 order by order_key limit $2)
             union
             (select distinct order_key from rebuilt_resources
               where order_key > $1 order by order_key limit $2)) named
      order by order_key
      limit $2`,
    [afterKey, limit],
  );
  return rows.map(({ orderKey }) => orderKey);
}

/** The rebuilt parts of the named orders: payments, with their refunds and disputes. */
export async function readRebuiltParts(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly StoredPart[]> {
  const rows = await tx.query<PartRow>(
    `with payments as (
       select kind, id, payment_id, order_key, status, stage, currency, amount_minor,
              authorized_minor, captured_minor
         from rebuilt_resources
        where kind = 'payment' and order_key = any ($1::text[])
     ), parts as (
       select kind, id, payment_id, order_key, status, stage, currency, amount_minor,
              authorized_minor, captured_minor
         from payments
       union all
       select c.kind, c.id, c.payment_id, p.order_key, c.status, c.stage, c.currency,
              c.amount_minor, c.authorized_minor, c.captured_minor
         from payments p
        cross join lateral (select kind, id, payment_id, status, stage, currency, amount_minor,
                                   authorized_minor, captured_minor
                              from rebuilt_resources c
                             where c.payment_id = p.id offset 0) c
     )
     select kind, id, payment_id as "paymentId", order_key as "orderKey", status, stage, currency,
            amount_minor::text as "amountMinor", authorized_minor::text as "authorizedMinor",
            captured_minor::text as "capturedMinor"
       from parts`,
    [orderKeys],
  );
  return rows.map(toPart);
}

/** Statements on the merged state of resources. */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Contradiction } from '../domain/epochs.ts';
import type { Posted } from '../domain/legs.ts';
import type { NamedPart } from '../domain/orderFindings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

/** The stored fields of a resource that are needed to apply observations. */
export interface ResourceRow extends Placement {
  readonly status: string | null;
  readonly stage: string | null;
  readonly deadlineAt: Date | null;
  readonly currency: string | null;
  readonly epoch: number;
  readonly contradiction: Contradiction | null;
  readonly openFindings: readonly string[];
  readonly posted: Posted;
}

const ROW_COLUMNS = `
  r.kind, r.id, r.payment_id as "paymentId", r.order_key as "orderKey", r.status, r.stage,
  r.deadline_at as "deadlineAt", r.currency, r.epoch, r.contradiction, r.open_findings as "openFindings", r.posted`;

/** The kinds and ids of resources, as two parallel parameters. */
export function refColumns(
  refs: readonly ResourceRef[],
): readonly [readonly string[], readonly string[]] {
  return [refs.map(({ kind }) => kind), refs.map(({ id }) => id)];
}

/** The payment and the order that a resource is filed under. */
export interface Placement extends ResourceRef {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
}

/** Reads placements without a lock; resources that do not exist are missing. */
export function readPlacements(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly Placement[]> {
  return tx.query<Placement>(
    `select wanted.kind, wanted.id, r.payment_id as "paymentId", r.order_key as "orderKey"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id) wanted
      cross join lateral (select payment_id, order_key from resources
                           where kind = wanted.kind and id = wanted.id limit 1) r`,
    refColumns(refs),
  );
}

/** A resource that was only mentioned, with the order it is filed under until it is observed. */
export interface Stub extends ResourceRef {
  readonly orderKey: string | null;
}

/**
 * Locks and reads resources, in the order of their kind and id. The keys lead to the rows: a plan that was made while
 * there were few resources would otherwise compare each resource with each key (docs/decisions/0178-plans-for-small-tables.md).
 */
export function lockResources(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly ResourceRow[]> {
  return tx.query<ResourceRow>(
    `select locked.*
       from (select distinct kind, id
               from unnest($1::text[], $2::text[]) as u (kind, id)
              order by kind, id) wanted
      cross join lateral (
        select ${ROW_COLUMNS}
          from resources r
         where r.kind = wanted.kind and r.id = wanted.id
           for update) locked`,
    refColumns(refs),
  );
}

/** The merged state to write; field names are those of the table. */
export interface ResourceUpdate extends ResourceRef {
  readonly payment_id: string | null;
  readonly order_key: string | null;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amount_minor: number | null;
  readonly net_amount_minor: number | null;
  readonly authorized_minor: number;
  readonly captured_minor: number;
  readonly capture_method: string | null;
  readonly reference: string | null;
  readonly unified_code: string | null;
  readonly unified_message: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly reason: string | null;
  readonly reason_code: string | null;
  readonly created_at: string | null;
  readonly deadline_at: string | null;
  readonly term_since: string | null;
  readonly epoch: number;
  readonly version_micros: number | null;
  /** Null for a stub. */
  readonly head_hash: string | null;
  readonly posts: boolean;
  readonly uncertainties: readonly string[];
  readonly contradiction: Contradiction | null;
  readonly open_findings: readonly string[];
  /** The state needs a retrieve before it can be trusted. */
  readonly is_check_wanted: boolean;
  /** It can still change, so a check is scheduled even if none is wanted. */
  readonly is_unsettled: boolean;
  /** A webhook reported it now. */
  readonly is_reported: boolean;
  readonly posted: Posted;
}

/** Columns of an update with the SQL type of each parameter. */
const UPDATE_COLUMNS = {
  kind: 'text',
  id: 'text',
  payment_id: 'text',
  order_key: 'text',
  status: 'text',
  stage: 'text',
  currency: 'text',
  amount_minor: 'bigint',
  net_amount_minor: 'bigint',
  authorized_minor: 'bigint',
  captured_minor: 'bigint',
  capture_method: 'text',
  reference: 'text',
  unified_code: 'text',
  unified_message: 'text',
  error_code: 'text',
  error_message: 'text',
  reason: 'text',
  reason_code: 'text',
  created_at: 'timestamptz',
  deadline_at: 'timestamptz',
  term_since: 'timestamptz',
  epoch: 'int',
  version_micros: 'bigint',
  head_hash: 'text',
  posts: 'boolean',
  uncertainties: 'text',
  contradiction: 'text',
  open_findings: 'text',
  is_check_wanted: 'boolean',
  is_unsettled: 'boolean',
  is_reported: 'boolean',
  posted: 'text',
} as const satisfies Record<keyof ResourceUpdate, string>;

const UPDATE_NAMES = Object.keys(UPDATE_COLUMNS) as (keyof ResourceUpdate)[];

/** Of columns with another type than their parameter. */
const GIVEN_AS: Readonly<Partial<Record<keyof ResourceUpdate, string>>> = {
  head_hash: `decode(u.head_hash, 'hex')`,
  uncertainties: 'u.uncertainties::text[]',
  contradiction: 'u.contradiction::jsonb',
  open_findings: 'u.open_findings::text[]',
  posted: 'u.posted::jsonb',
};

/**
 * One array for each column. As a JSON document the same rows took 50 % longer to read. Arrays are unnested
 * in the select list: in the from clause, PostgreSQL would first store the elements of each array as rows.
 */
const UPDATE_ROWS = `(select ${Object.entries(UPDATE_COLUMNS)
  .map(([name, type], place) => `unnest($${place + 1}::${type}[]) as ${name}`)
  .join(', ')}) u`;

/** When a resource that can still change is checked first. Reconciliation schedules later checks. */
const FIRST_CHECK = "interval '2 minutes'";

/**
 * Inserts resources with their merged states, in the order of kind and id. A transaction must insert all
 * its resources in one call, or two transactions could deadlock.
 * @returns the inserted ones; one that another transaction inserted meanwhile is missing
 */
export function insertResources(
  tx: Queryable,
  updates: readonly ResourceUpdate[],
): Promise<readonly ResourceRef[]> {
  return tx.query<ResourceRef>(
    `insert into resources (kind, id, payment_id, order_key, status, stage, currency, amount_minor,
                            net_amount_minor, authorized_minor, captured_minor, capture_method,
                            reference, unified_code, unified_message, error_code, error_message,
                            reason, reason_code, created_at, deadline_at, term_since,
                            epoch, version_micros, head_hash, posts, uncertainties, contradiction,
                            open_findings, is_check_wanted, next_check_at, webhook_applied_at, posted)
     select kind, id, payment_id, order_key, status, stage, currency, amount_minor,
            net_amount_minor, authorized_minor, captured_minor, capture_method,
            reference, unified_code, unified_message, error_code, error_message,
            reason, reason_code, created_at, deadline_at, term_since,
            epoch, version_micros, decode(head_hash, 'hex'), posts, uncertainties::text[],
            contradiction::jsonb, open_findings::text[], is_check_wanted,
            case when is_check_wanted then now() when is_unsettled then now() + ${FIRST_CHECK} end,
            case when is_reported then now() end, posted::jsonb
       from ${UPDATE_ROWS}
      order by kind, id
     on conflict do nothing
     returning kind, id`,
    toColumns(updates),
  );
}

/** The columns of a merged state; the others decide about checks. */
const STATE_NAMES = UPDATE_NAMES.filter(
  (name) => !['kind', 'id', 'is_check_wanted', 'is_unsettled', 'is_reported'].includes(name),
);
const STORED_STATE = STATE_NAMES.map((name) => `r.${name}`).join(', ');
const GIVEN_STATE = STATE_NAMES.map((name) => GIVEN_AS[name] ?? `u.${name}`).join(', ');

/**
 * Updates merged states. The caller holds the rows. A row that would stay as it is is not written again.
 *
 * A check that is wanted stays wanted, also if the new state needs none: an event that changes no state, such
 * as one with an unreadable amount, may have requested it. Only the response to a retrieve settles that.
 *
 * A scheduled check stays scheduled even if the state has become final; the check then finds nothing to
 * do. Clearing it here would add an entry to each index of the table for every final event; without it
 * the update stays in place. One that is far away comes earlier if the state changed and can change further: the
 * event that follows may be lost.
 */
export async function updateResources(
  tx: Queryable,
  updates: readonly ResourceUpdate[],
): Promise<void> {
  await tx.query(
    `update resources r
        set (${STATE_NAMES.join(', ')}) = (${GIVEN_STATE}),
            is_check_wanted = u.is_check_wanted or r.is_check_wanted,
            next_check_at = case when u.is_check_wanted then now()
                                 when u.is_unsettled and r.head_hash is distinct from decode(u.head_hash, 'hex')
                                 then least(r.next_check_at, now() + ${FIRST_CHECK})
                                 when u.is_unsettled then coalesce(r.next_check_at, now() + ${FIRST_CHECK})
                                 else r.next_check_at end,
            webhook_applied_at = case when u.is_reported then now() else r.webhook_applied_at end,
            updated_at = now()
       from ${UPDATE_ROWS}
      where r.kind = u.kind and r.id = u.id
        and (u.is_reported or u.is_check_wanted or u.is_unsettled and r.next_check_at is null
             or (${STORED_STATE}) is distinct from (${GIVEN_STATE}))`,
    toColumns(updates),
  );
}

function toColumns(updates: readonly ResourceUpdate[]): readonly unknown[] {
  return UPDATE_NAMES.map((name) => updates.map((update) => toColumn(update[name])));
}

/** Arrays become array literals and objects become JSON, because each parameter is an array of scalars. */
function toColumn(value: ResourceUpdate[keyof ResourceUpdate]): string | number | boolean | null {
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value)
    : (value as string | number | boolean | null);
}

/** Writes the posted amounts of resources that the caller holds. */
export async function updatePosted(
  tx: Queryable,
  rows: readonly Pick<ResourceUpdate, 'kind' | 'id' | 'posted'>[],
): Promise<void> {
  await tx.query(
    `update resources r
        set posted = u.posted::jsonb
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id,
                    unnest($3::text[]) as posted) u
      where r.kind = u.kind and r.id = u.id`,
    [...refColumns(rows), rows.map(({ posted }) => JSON.stringify(posted))],
  );
}

/** Makes resources due for a retrieve now. */
export async function markCheckDue(tx: Queryable, refs: readonly ResourceRef[]): Promise<void> {
  await tx.query(
    `update resources
        set is_check_wanted = true, next_check_at = now(), updated_at = now()
      where (kind, id) in (select kind, id from (select unnest($1::text[]) as kind,
                                                        unnest($2::text[]) as id) u)`,
    refColumns(refs),
  );
}

/**
 * Makes the resources of events that were not applied due for a retrieve now, and records what the response must
 * not be older than: of several events, the greatest version.
 */
export async function markBehind(
  tx: Queryable,
  events: readonly (ResourceRef & { readonly versionMicros: number | undefined })[],
): Promise<void> {
  await tx.query(
    `update resources r
        set is_check_wanted = true, next_check_at = now(), updated_at = now(),
            behind_since = now(), behind_micros = greatest(u.version_micros, r.behind_micros)
       from (select kind, id, max(version_micros) as version_micros
               from (select unnest($1::text[]) as kind, unnest($2::text[]) as id,
                            unnest($3::bigint[]) as version_micros) u
              group by kind, id) u
      where r.kind = u.kind and r.id = u.id`,
    [...refColumns(events), events.map(({ versionMicros }) => versionMicros ?? null)],
  );
}

/**
 * Files the refunds and disputes of payments under the order of each payment. The payments are read by key: where no
 * statistics were made, the planner expects two payments, and reads all.
 */
export async function moveChildren(tx: Queryable, paymentIds: readonly string[]): Promise<void> {
  await tx.query(
    `update resources child
        set order_key = parent.order_key, updated_at = now()
       from unnest($1::text[]) as moved (id)
      cross join lateral (select order_key from resources
                           where kind = 'payment' and id = moved.id limit 1) parent
      where child.payment_id = moved.id and child.order_key is distinct from parent.order_key`,
    [paymentIds],
  );
}

/** A part of an order, with the order's key. */
export interface PartRow extends NamedPart {
  readonly kind: ResourceKind;
  readonly orderKey: string;
}

/** All parts of orders. The caller holds the orders, so that no part can be added meanwhile. */
export async function readParts(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly PartRow[]> {
  const rows = await tx.query<{
    kind: ResourceKind;
    id: string;
    paymentId: string | null;
    orderKey: string;
    status: string | null;
    stage: string | null;
    currency: string | null;
    amountMinor: number | null;
    authorizedMinor: number;
    capturedMinor: number;
  }>(
    `select kind, id, payment_id as "paymentId", order_key as "orderKey", status, stage, currency, amount_minor as "amountMinor",
            authorized_minor as "authorizedMinor", captured_minor as "capturedMinor"
       from resources
      where order_key = any ($1::text[])`,
    [orderKeys],
  );
  return rows.map((row) => ({
    ...row,
    status: row.status ?? undefined,
    stage: row.stage ?? undefined,
    currency: row.currency ?? undefined,
    amountMinor: row.amountMinor ?? undefined,
  }));
}

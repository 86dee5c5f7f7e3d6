/** Statements that erase personal data from the ledger. */
import type { Queryable } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import type { ErasableTexts } from '../domain/erasedContent.ts';
import type { ResourceRef, SnapshotContent } from '../domain/snapshot.ts';

export interface RedactedSnapshot extends ResourceRef {
  readonly epoch: number;
  readonly contentHash: string;
  readonly content: SnapshotContent;
  readonly redactedHash: string;
}

/** Replaces the texts of snapshots. The caller holds the rows of their resources. */
export async function redactSnapshots(
  tx: Queryable,
  snapshots: readonly RedactedSnapshot[],
): Promise<void> {
  await tx.query('select redact_snapshots($1::jsonb)', [
    JSON.stringify(
      snapshots.map(({ kind, id, epoch, contentHash, content, redactedHash }) => ({
        kind,
        id,
        epoch,
        content_hash: contentHash,
        // As text, because `jsonb` does not keep the order of fields.
        content: JSON.stringify(content),
        redacted_hash: redactedHash,
      })),
    ),
  ]);
}

export interface ResourceTexts extends ResourceRef {
  readonly texts: ErasableTexts;
}

/** The texts of resources. The caller holds the rows. */
export async function readResourceTexts(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly ResourceTexts[]> {
  const rows = await tx.query<ResourceRef & { readonly texts: ErasableTexts }>(
    `select r.kind, r.id,
            jsonb_strip_nulls(jsonb_build_object(
              'unifiedCode', r.unified_code, 'unifiedMessage', r.unified_message,
              'errorCode', r.error_code, 'errorMessage', r.error_message,
              'reason', r.reason, 'reasonCode', r.reason_code)) as texts
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
       join resources r on r.kind = wanted.kind and r.id = wanted.id`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  );
  return rows;
}

/** Writes the texts of resources. The caller holds the rows. */
export async function updateResourceTexts(
  tx: Queryable,
  resources: readonly ResourceTexts[],
): Promise<void> {
  const texts = (field: keyof ErasableTexts) =>
    resources.map(({ texts: { [field]: text } }) => text ?? null);
  await tx.query(
    `update resources r
        set unified_code = u.unified_code, unified_message = u.unified_message,
            error_code = u.error_code, error_message = u.error_message, reason = u.reason,
            reason_code = u.reason_code
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                   $8::text[])
              as u (kind, id, unified_code, unified_message, error_code, error_message, reason,
                    reason_code)
      where r.kind = u.kind and r.id = u.id`,
    [
      resources.map(({ kind }) => kind),
      resources.map(({ id }) => id),
      texts('unifiedCode'),
      texts('unifiedMessage'),
      texts('errorCode'),
      texts('errorMessage'),
      texts('reason'),
      texts('reasonCode'),
    ],
  );
}

/** Resources that one request erases; this bounds what is read into memory. */
const MAX_ERASABLE = 1_000_000;

/**
 * Payments and payouts of these ids, and payments of these orders, with their refunds and disputes.
 * @throws OperatorError if there are more than `most`: a request must not leave some of them out
 */
export async function findErasable(
  db: Queryable,
  { ids, orderKeys }: { readonly ids: readonly string[]; readonly orderKeys: readonly string[] },
  most = MAX_ERASABLE,
): Promise<readonly ErasableResource[]> {
  const found = await db.query<ErasableResource>(
    `select r.kind, r.id, r.payment_id as "paymentId", r.order_key as "orderKey",
            least(r.first_seen_at, r.created_at) as "since"
       from resources r
      where r.order_key = any ($2::text[])
         or (r.kind in ('payment', 'refund', 'dispute', 'payout') and r.id = any ($1::text[]))
         or r.payment_id = any ($1::text[])
      order by r.kind, r.id
      limit $3`,
    [ids, orderKeys, most + 1],
  );
  if (found.length > most) {
    throw new OperatorError(
      `The request names more than ${most} payments, refunds, disputes and payouts. Nothing was erased. Divide it into several requests.`,
    );
  }
  return found;
}

export interface ErasableResource extends ResourceRef {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  /** Nothing of it was received before. */
  readonly since: Date;
}

/** What is known of events before their bodies are erased, each by number. */
export interface EventsState {
  readonly pending: readonly number[];
  readonly dead: readonly number[];
}

export async function readEventsState(tx: Queryable, ids: readonly number[]): Promise<EventsState> {
  const rows = await tx.query<{ id: number; isDead: boolean }>(
    `select p.webhook_event_id as id, false as "isDead"
       from pending p where p.webhook_event_id = any ($1::bigint[])
      union all
     select d.webhook_event_id, true
       from dead_events d where d.webhook_event_id = any ($1::bigint[])
      order by id
      limit $2`,
    [ids, 2 * ids.length],
  );
  return {
    pending: rows.flatMap(({ id, isDead }) => (isDead ? [] : [id])),
    dead: rows.flatMap(({ id, isDead }) => (isDead ? [id] : [])),
  };
}

/** Replaces the errors of dead events: an error may quote the body. */
export async function redactDeadEvents(
  tx: Queryable,
  { ids, error }: { readonly ids: readonly number[]; readonly error: string },
): Promise<void> {
  await tx.query(`update dead_events set error = $2 where webhook_event_id = any ($1::bigint[])`, [
    ids,
    error,
  ]);
}

/** Records that bodies were erased, in the transaction that erases them. */
export async function insertErasedBodies(
  tx: Queryable,
  { ids, erasureId }: { readonly ids: readonly number[]; readonly erasureId: number },
): Promise<void> {
  await tx.query(
    `insert into erased_bodies (webhook_event_id, erasure_id)
     select id, $2 from unnest($1::bigint[]) as u (id)
     on conflict (webhook_event_id) do nothing`,
    [ids, erasureId],
  );
}

/** The requests that erased a body of any of these resources, by their ids. */
export function findErasuresOfResources(
  tx: Queryable,
  ids: readonly string[],
): Promise<readonly { readonly name: string; readonly id: number }[]> {
  return tx.query(
    `select distinct s.resource_id as name, x.erasure_id as id
       from snapshots s
       join erased_bodies x on x.webhook_event_id = s.webhook_event_id
      where s.kind in ('payment', 'refund', 'dispute', 'payout') and s.resource_id = any ($1::text[])
      order by 2
      limit 100000`,
    [ids],
  );
}

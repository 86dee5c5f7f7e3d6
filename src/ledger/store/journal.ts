/** Statements on the journal, which is append-only. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type DatedTransfer,
  type EffectiveTime,
  letterOf,
  type PostedMovement,
  type UndatedTransfer,
} from '../domain/effectiveTimes.ts';
import type { JournalRef } from '../domain/legs.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { formatInstant } from '../domain/time.ts';

/** A transfer with its resource and its cause. */
export interface NewTransfer extends DatedTransfer {
  readonly ref: JournalRef;
  /** The inbox row that caused it, if any. */
  readonly webhookEventId: number | undefined;
}

/**
 * Appends transfers as one set. The database rejects a set that does not continue the legs from their
 * ends, so that a writer with a stale view of a resource cannot post.
 */
export async function insertTransfers(
  tx: Queryable,
  transfers: readonly NewTransfer[],
): Promise<void> {
  await tx.query(
    `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                            previous_minor, cumulative_minor, head_hash, webhook_event_id,
                            effective_at, effective_source)
     select kind, id, leg, currency, seq, debit, credit, amount, previous, cumulative,
            decode(head, 'hex'), event, effective, source::"char"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id, unnest($3::text[]) as leg,
                    unnest($4::text[]) as currency, unnest($5::int[]) as seq,
                    unnest($6::text[]) as debit, unnest($7::text[]) as credit,
                    unnest($8::bigint[]) as amount, unnest($9::bigint[]) as previous,
                    unnest($10::bigint[]) as cumulative, unnest($11::text[]) as head,
                    unnest($12::bigint[]) as event,
                    unnest($13::timestamptz[]) as effective,
                    unnest($14::text[]) as source) u`,
    [
      transfers.map(({ ref }) => ref.kind),
      transfers.map(({ ref }) => ref.id),
      transfers.map(({ leg }) => leg),
      transfers.map(({ currency }) => currency),
      transfers.map(({ seq }) => seq),
      transfers.map(({ debit }) => debit),
      transfers.map(({ credit }) => credit),
      transfers.map(({ amountMinor }) => amountMinor),
      transfers.map(({ previousMinor }) => previousMinor),
      transfers.map(({ cumulativeMinor }) => cumulativeMinor),
      transfers.map(({ headHash }) => headHash),
      transfers.map(({ webhookEventId }) => webhookEventId ?? null),
      transfers.map(({ effectiveMicros }) => formatInstant(effectiveMicros)),
      transfers.map(({ source }) => letterOf(source)),
    ],
  );
}

/** What the named resources moved, by effective time. The caller holds their rows. */
export async function readMovements(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly (PostedMovement & { readonly ref: ResourceRef })[]> {
  const rows = await tx.query<
    ResourceRef & {
      readonly leg: string;
      readonly currency: string;
      readonly moved: string;
      readonly effectiveMicros: number | null;
    }
  >(
    `select t.kind, t.resource_id as id, t.leg, t.currency, t.moved::text, t."effectiveMicros"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id) wanted
      cross join lateral (select t.kind, t.resource_id, t.leg, t.currency,
                                 sum(t.cumulative_minor - t.previous_minor) as moved,
                                 (extract(epoch from t.effective_at) * 1000000)::bigint
                                   as "effectiveMicros"
                            from transfers t
                           where t.kind = wanted.kind and t.resource_id = wanted.id
                           group by 1, 2, 3, 4, 6 offset 0) t`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  );
  return rows.map(({ kind, id, moved, effectiveMicros, ...rest }) => ({
    ...rest,
    ref: { kind, id },
    movedMinor: BigInt(moved),
    effectiveMicros: effectiveMicros ?? undefined,
  }));
}

/** Resources that have a transfer without an effective time. */
export function readUndatedRefs(tx: Queryable, limit: number): Promise<readonly ResourceRef[]> {
  return tx.query<ResourceRef>(
    `select distinct kind, resource_id as id from transfers
      where effective_at is null
      order by kind, resource_id
      limit $1`,
    [limit],
  );
}

/** The transfers of the named resources that have no effective time, each leg in sequence. */
export async function readUndated(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly (UndatedTransfer & { readonly ref: ResourceRef })[]> {
  const rows = await tx.query<ResourceRef & UndatedTransfer & { readonly number: number }>(
    `select t.number, t.kind, t.id, t.currency, t.leg, t."recordedMicros"
       from (select unnest($1::text[]) as kind, unnest($2::text[]) as id) wanted
      cross join lateral (select t.id as number, t.kind, t.resource_id as id, t.currency, t.leg,
                                 (extract(epoch from t.recorded_at) * 1000000)::bigint
                                   as "recordedMicros"
                            from transfers t
                           where t.kind = wanted.kind and t.resource_id = wanted.id
                             and t.effective_at is null offset 0) t
      order by t.number`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  );
  return rows.map(({ kind, id, number, ...rest }) => ({ ...rest, id: number, ref: { kind, id } }));
}

/** Gives transfers without an effective time theirs. @returns how many got one */
export async function dateTransfers(
  tx: Queryable,
  times: readonly (EffectiveTime & { readonly id: number })[],
): Promise<number> {
  const rows = await tx.query<{ changed: number }>(
    'select date_transfers($1::bigint[], $2::timestamptz[], $3::text[]) as changed',
    [
      times.map(({ id }) => id),
      times.map(({ effectiveMicros }) => formatInstant(effectiveMicros)),
      times.map(({ source }) => letterOf(source)),
    ],
  );
  return rows[0]?.changed ?? 0;
}

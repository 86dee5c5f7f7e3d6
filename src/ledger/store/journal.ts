/** Statements on the journal, which is append-only. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Transfer } from '../domain/legs.ts';
import type { ResourceRef } from '../domain/snapshot.ts';

/** A transfer with its resource and its cause. */
export interface NewTransfer extends Transfer {
  readonly ref: ResourceRef;
  /** The head at the time of posting. */
  readonly headHash: string;
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
                            previous_minor, cumulative_minor, head_hash, webhook_event_id)
     select kind, id, leg, currency, seq, debit, credit, amount, previous, cumulative,
            decode(head, 'hex'), event
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[],
                   $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[])
            as u (kind, id, leg, currency, seq, debit, credit, amount, previous, cumulative, head, event)`,
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
    ],
  );
}

/** Statements that read the other bodies of an event: they arrived under its id and were not applied. */
import type { Queryable } from '../../../platform/db/database.ts';

export interface VariantRow {
  /** Null if it was removed or erased. */
  readonly body: Buffer | null;
  /** SHA-256 in hexadecimal. */
  readonly bodySha256: string;
  /** Microseconds since 1970: a cursor must not lose digits. */
  readonly receivedMicros: number;
}

export interface VariantPage {
  /** The page begins after this body; the time is ISO 8601 with microseconds. */
  readonly after: { readonly at: string; readonly bodySha256: string } | undefined;
  readonly limit: number;
}

/** The other bodies of the event of an inbox number, in the order of their arrival. */
export function readVariants(
  db: Queryable,
  id: number,
  { after, limit }: VariantPage,
): Promise<readonly VariantRow[]> {
  return db.query<VariantRow>(
    `select v.body, encode(v.body_sha256, 'hex') as "bodySha256",
            (extract(epoch from v.received_at) * 1000000)::bigint as "receivedMicros"
       from event_variants v
      where v.webhook_event_id = $1
        and ($2::timestamptz is null
             or (v.received_at, v.body_sha256) > ($2, decode($3::text, 'hex')))
      order by v.received_at, v.body_sha256
      limit $4`,
    [id, after?.at ?? null, after?.bodySha256 ?? null, limit],
  );
}

/** Statements on awaited webhooks: their changes were repaired before they had time to arrive. */
import type { ResourceRef } from '../../ledger/domain/snapshot.ts';
import { isWebhookApplied } from '../../ledger/read/store/fragments.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Stream } from '../streams.ts';

/** Records repaired changes; of one resource the latest counts. */
export async function awaitWebhooks(
  db: Queryable,
  stream: Stream,
  changes: readonly { readonly ref: ResourceRef; readonly changedAt: Date }[],
): Promise<void> {
  await db.query(
    `insert into awaited_webhooks (kind, resource_id, stream, changed_at)
     select kind, id, $1, changed
       from unnest($2::text[], $3::text[], $4::timestamptz[]) as u (kind, id, changed)
     on conflict (kind, resource_id)
     do update set changed_at = excluded.changed_at, repaired_at = excluded.repaired_at`,
    [
      stream,
      changes.map(({ ref }) => ref.kind),
      changes.map(({ ref }) => ref.id),
      changes.map(({ changedAt }) => changedAt),
    ],
  );
}

/** Counts the awaited webhooks of some lists. */
export async function countAwaited(db: Queryable, streams: readonly Stream[]): Promise<number> {
  const rows = await db.query<{ awaited: number }>(
    'select count(*) as awaited from awaited_webhooks where stream = any ($1::text[])',
    [streams],
  );
  return rows[0]?.awaited ?? 0;
}

/** A webhook that did not arrive. */
export interface MissedWebhook {
  readonly secondsToConverge: number;
}

/**
 * Ends the wait for webhooks that have had time to arrive since the repair, by the clock of the database.
 * Transactions begin before they commit, so a webhook that was applied at the same moment as the repair
 * counts as arrived.
 * @returns those that did not arrive
 */
export async function collectMissed(
  db: Queryable,
  stream: Stream,
  { graceMs, limit }: { readonly graceMs: number; readonly limit: number },
): Promise<readonly MissedWebhook[]> {
  return await db.query<MissedWebhook>(
    `with due as materialized (
       select kind, resource_id from awaited_webhooks
        where stream = $1 and repaired_at <= statement_timestamp() - $2 * interval '1 millisecond'
        order by repaired_at
        limit $3
          for update skip locked
     ), over as (
       delete from awaited_webhooks a using due
        where a.kind = due.kind and a.resource_id = due.resource_id
       returning a.kind, a.resource_id, a.changed_at, a.repaired_at
     )
     select extract(epoch from o.repaired_at - o.changed_at)::float8 as "secondsToConverge"
       from over o
      where not ${isWebhookApplied({
        kind: 'o.kind',
        id: 'o.resource_id',
        since: "o.repaired_at - interval '5 seconds'",
      })}`,
    [stream, graceMs, limit],
  );
}

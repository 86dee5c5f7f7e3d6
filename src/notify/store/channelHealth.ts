/** Statements on the health of channels. */
import type { Queryable } from '../../platform/db/database.ts';
import { CHANNELS, type ChannelName } from '../domain/message.ts';
import type { Health } from '../domain/retry.ts';

interface HealthRow {
  readonly outageFailures: number;
  readonly failingSince: Date;
  readonly retryAt: Date | null;
  readonly waitingSince: Date;
  readonly lastError: string;
}

const COLUMNS = `
  failures as "outageFailures", failing_since as "failingSince", retry_at as "retryAt",
  coalesce(waiting_since, failing_since) as "waitingSince", last_error as "lastError"`;

/** Undefined if the channel works; locked until the transaction ends. */
export async function lockHealth(tx: Queryable, channel: ChannelName): Promise<Health | undefined> {
  const rows = await tx.query<HealthRow>(
    `select ${COLUMNS} from channel_health where channel = $1 for update`,
    [channel],
  );
  return rows[0] && healthOf(rows[0]);
}

function healthOf(row: HealthRow): Health {
  const { outageFailures, failingSince, retryAt, waitingSince, lastError } = row;
  return {
    failingSinceMs: failingSince.getTime(),
    lastError,
    outage:
      retryAt === null
        ? undefined
        : {
            failures: outageFailures,
            retryAtMs: retryAt.getTime(),
            waitingSinceMs: waitingSince.getTime(),
          },
  };
}

/** Makes the caller, who has locked the row, the only probe until the lease ends. */
export async function leaseProbe(
  tx: Queryable,
  channel: ChannelName,
  { now, leaseUntil }: { readonly now: Date; readonly leaseUntil: Date },
): Promise<void> {
  await tx.query('update channel_health set retry_at = $2, waiting_since = $3 where channel = $1', [
    channel,
    leaseUntil.toISOString(),
    now.toISOString(),
  ]);
}

export async function saveHealth(
  tx: Queryable,
  channel: ChannelName,
  health: Health,
): Promise<void> {
  await tx.query(
    `insert into channel_health as h (channel, failures, failing_since, retry_at, waiting_since, last_error)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (channel) do update
        set failures = excluded.failures, failing_since = excluded.failing_since,
            retry_at = excluded.retry_at, waiting_since = excluded.waiting_since,
            last_error = excluded.last_error`,
    [
      channel,
      health.outage?.failures ?? 0,
      new Date(health.failingSinceMs).toISOString(),
      health.outage ? new Date(health.outage.retryAtMs).toISOString() : null,
      health.outage ? new Date(health.outage.waitingSinceMs).toISOString() : null,
      health.lastError,
    ],
  );
}

/** The channel works again. */
export async function deleteHealth(tx: Queryable, channel: ChannelName): Promise<void> {
  await tx.query('delete from channel_health where channel = $1', [channel]);
}

/** Channels other than some that no process has tried since a time: their last attempts are all older. */
export async function readUntriedChannels(
  db: Queryable,
  { others, since }: { readonly others: readonly ChannelName[]; readonly since: Date },
): Promise<readonly ChannelName[]> {
  const rows = await db.query<{ channel: ChannelName }>(
    `select channel
       from (select unnest($1::text[]) as channel union select channel from channel_health) known
      where channel <> all ($2::text[])
        and not exists (select from channel_health h
                         where h.channel = known.channel
                           and coalesce(h.waiting_since, h.failing_since) >= $3)
        and not exists (select from messages m
                         where m.channel = known.channel and m.state = 'due'
                           and (m.attempt_log -> -1 ->> 'at')::timestamptz >= $3)
      limit 100`,
    [CHANNELS, others, since.toISOString()],
  );
  return rows.map(({ channel }) => channel);
}

/** Deletes the health of channels. @returns the names of those that had one */
export async function deleteHealthOf(
  tx: Queryable,
  channels: readonly ChannelName[],
): Promise<readonly ChannelName[]> {
  const rows = await tx.query<{ channel: ChannelName }>(
    'delete from channel_health where channel = any ($1::text[]) returning channel',
    [channels],
  );
  return rows.map(({ channel }) => channel);
}

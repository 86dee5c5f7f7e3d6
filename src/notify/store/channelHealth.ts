/** Statements on how channels fare. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ChannelName } from '../domain/message.ts';
import type { Health } from '../domain/retry.ts';

interface HealthRow {
  readonly timesAway: number;
  readonly failingSince: Date;
  readonly retryAt: Date | null;
  readonly lastError: string;
}

const COLUMNS = `
  failures as "timesAway", failing_since as "failingSince", retry_at as "retryAt",
  last_error as "lastError"`;

/** Undefined when nothing is wrong. */
export async function readHealth(db: Queryable, channel: ChannelName): Promise<Health | undefined> {
  const rows = await db.query<HealthRow>(
    `select ${COLUMNS} from channel_health where channel = $1`,
    [channel],
  );
  return rows[0] && healthOf(rows[0]);
}

/** The same, locked until the transaction ends. */
export async function lockHealth(tx: Queryable, channel: ChannelName): Promise<Health | undefined> {
  const rows = await tx.query<HealthRow>(
    `select ${COLUMNS} from channel_health where channel = $1 for update`,
    [channel],
  );
  return rows[0] && healthOf(rows[0]);
}

function healthOf({ timesAway, failingSince, retryAt, lastError }: HealthRow): Health {
  return {
    failingSinceMs: failingSince.getTime(),
    lastError,
    away: retryAt === null ? undefined : { times: timesAway, retryAtMs: retryAt.getTime() },
  };
}

/** Leaves it to whoever has locked the row to find out whether the channel is back, until `until`. */
export async function leaseProbe(tx: Queryable, channel: ChannelName, until: Date): Promise<void> {
  await tx.query('update channel_health set retry_at = $2 where channel = $1', [
    channel,
    until.toISOString(),
  ]);
}

export async function saveHealth(
  tx: Queryable,
  channel: ChannelName,
  health: Health,
): Promise<void> {
  await tx.query(
    `insert into channel_health as h (channel, failures, failing_since, retry_at, last_error)
     values ($1, $2, $3, $4, $5)
     on conflict (channel) do update
        set failures = excluded.failures, failing_since = excluded.failing_since,
            retry_at = excluded.retry_at, last_error = excluded.last_error`,
    [
      channel,
      health.away?.times ?? 0,
      new Date(health.failingSinceMs).toISOString(),
      health.away ? new Date(health.away.retryAtMs).toISOString() : null,
      health.lastError,
    ],
  );
}

/** All is well again. */
export async function deleteHealth(tx: Queryable, channel: ChannelName): Promise<void> {
  await tx.query('delete from channel_health where channel = $1', [channel]);
}

/** Forgets how other channels fare than those named, and returns which these are. */
export async function deleteOtherHealth(
  tx: Queryable,
  channels: readonly ChannelName[],
): Promise<readonly ChannelName[]> {
  const rows = await tx.query<{ channel: ChannelName }>(
    'delete from channel_health where channel <> all ($1::text[]) returning channel',
    [channels],
  );
  return rows.map(({ channel }) => channel);
}

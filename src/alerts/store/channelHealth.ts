/** Statements on how channels fare. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ChannelName } from '../domain/message.ts';
import type { Health } from '../domain/retry.ts';

interface HealthRow {
  readonly failures: number;
  readonly failingSince: Date;
  readonly retryAt: Date | null;
  readonly lastError: string;
}

const COLUMNS = `
  failures, failing_since as "failingSince", retry_at as "retryAt", last_error as "lastError"`;

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

function healthOf({ failures, failingSince, retryAt, lastError }: HealthRow): Health {
  return {
    failures,
    failingSinceMs: failingSince.getTime(),
    retryAtMs: retryAt?.getTime(),
    lastError,
  };
}

/**
 * Takes it on oneself to find out whether a channel is back, if something is due on it: of all who
 * ask, one is told yes. Until `until` nobody else is.
 */
export async function claimProbe(
  tx: Queryable,
  probe: { readonly channel: ChannelName; readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `update channel_health set retry_at = $3
      where channel = $1 and retry_at <= $2
        and exists (select from messages m
                     where m.channel = $1 and m.state = 'due' and m.next_attempt_at <= $2)
     returning channel`,
    [probe.channel, probe.now.toISOString(), probe.until.toISOString()],
  );
  return rows.length > 0;
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
      health.failures,
      new Date(health.failingSinceMs).toISOString(),
      health.retryAtMs === undefined ? null : new Date(health.retryAtMs).toISOString(),
      health.lastError,
    ],
  );
}

/** All is well again. */
export async function deleteHealth(tx: Queryable, channel: ChannelName): Promise<void> {
  await tx.query('delete from channel_health where channel = $1', [channel]);
}

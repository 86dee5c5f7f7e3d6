/** Statements that measure alerts for Prometheus; each reads a bounded number of rows. */
import type { Queryable } from '../../platform/db/database.ts';

/** Beyond this many rows a count stands still, and means "this many or more". */
const COUNTED_ROWS = 100_000;

export interface AlertCount {
  readonly rule: string;
  readonly severity: string;
  readonly state: 'open' | 'acknowledged';
  readonly alerts: number;
  /** Seconds since 1970; null when no deadline lies ahead. */
  readonly nextDeadlineSeconds: number | null;
}

/** Alerts that are not resolved, by the index on them. */
export function measureAlerts(db: Queryable): Promise<readonly AlertCount[]> {
  return db.query<AlertCount>(
    `select rule, severity, state, count(*) as alerts,
            extract(epoch from min(deadline_at) filter (where deadline_at > statement_timestamp()))::float8
              as "nextDeadlineSeconds"
       from (select rule, severity, state, deadline_at from alerts
              where state <> 'resolved' order by id limit $1) a
      group by rule, severity, state`,
    [COUNTED_ROWS],
  );
}

export interface OutboxMeasure {
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestAgeSeconds: number;
}

/** What is to be said of alerts and was not made into messages yet. */
export async function measureOutbox(db: Queryable): Promise<OutboxMeasure> {
  const rows = await db.query<OutboxMeasure>(
    `select count(*) as waiting,
            greatest(coalesce(extract(epoch from clock_timestamp() - min(said_at)), 0), 0)::float8
              as "oldestAgeSeconds"
       from (select said_at from alert_outbox order by id limit $1) o`,
    [COUNTED_ROWS],
  );
  const [row] = rows;
  if (!row) throw new Error('a query that always has one row returned none');
  return row;
}

export interface ChannelMeasure {
  readonly channel: string;
  /** Messages that are not settled. */
  readonly due: number;
  /** Since the oldest of them was made; 0 when there is none. */
  readonly oldestAgeSeconds: number;
  /** Since the channel first failed without delivering anything since; 0 when all is well. */
  readonly failingSeconds: number;
}

/** What waits for each of the channels named, by the index on due messages, and how each fares. */
export function measureChannels(
  db: Queryable,
  channels: readonly string[],
): Promise<readonly ChannelMeasure[]> {
  return db.query<ChannelMeasure>(
    `select c.channel, m.due,
            greatest(coalesce(extract(epoch from clock_timestamp() - m.oldest), 0), 0)::float8
              as "oldestAgeSeconds",
            greatest(coalesce(extract(epoch from clock_timestamp() - h.failing_since), 0), 0)::float8
              as "failingSeconds"
       from unnest($1::text[]) as c (channel)
      cross join lateral (
              select count(*) as due, min(created_at) as oldest
                from (select created_at from messages
                       where channel = c.channel and state = 'due' limit $2) d) m
       left join channel_health h on h.channel = c.channel`,
    [channels, COUNTED_ROWS],
  );
}

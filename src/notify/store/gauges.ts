/** Statements that measure channels for Prometheus. Each reads a bounded number of rows. */
import type { Queryable } from '../../platform/db/database.ts';

/** Counts stop here and then mean "this many or more". */
const COUNTED_ROWS = 100_000;

export interface ChannelMeasure {
  readonly channel: string;
  /** Messages that are not settled yet. */
  readonly due: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly oldestAgeSeconds: number;
  /** Time since the channel began to fail without a success; 0 if it works. */
  readonly failingSeconds: number;
}

/** Due messages and the health of each channel; uses the index on due messages. */
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

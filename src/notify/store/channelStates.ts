/** Statements that read for people how channels do: what failed, what waits, and the last attempts. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ChannelName } from '../domain/message.ts';
import type { LoggedAttempt } from './messageRows.ts';

/** A channel that has accepted nothing since it began to fail. */
export interface FailingChannel {
  readonly channel: ChannelName;
  readonly failingSince: Date;
  /** Null while it responds and refuses. */
  readonly retryAt: Date | null;
  readonly lastError: string;
}

export function readFailingChannels(db: Queryable): Promise<readonly FailingChannel[]> {
  return db.query<FailingChannel>(
    `select channel, failing_since as "failingSince", retry_at as "retryAt",
            last_error as "lastError"
       from channel_health order by channel limit 100`,
  );
}

/** The last attempt of a message. */
export interface LastAttempt extends LoggedAttempt {
  readonly channel: ChannelName;
  readonly number: number;
}

/** Older messages are not searched for attempts of a channel that sends rarely. */
const SEARCHED_MESSAGES = 2_000;

/** The last attempt of each of the newest messages of every channel, newest message first. */
export function readLastAttempts(
  db: Queryable,
  perChannel: number,
): Promise<readonly LastAttempt[]> {
  return db.query<LastAttempt>(
    `select channel, number, (last ->> 'attempt')::integer as attempt, last ->> 'at' as at,
            last ->> 'outcome' as outcome, last ->> 'response' as response
       from (select channel, number, last,
                    row_number() over (partition by channel order by number desc) as place
               from (select channel, number, attempt_log -> -1 as last
                       from messages order by number desc limit $2) newest
              where last is not null) attempted
      where place <= $1
      order by channel, number desc
      limit 100`,
    [perChannel, SEARCHED_MESSAGES],
  );
}

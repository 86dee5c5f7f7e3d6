/** Statements on messages. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';
import { CHANNELS, type ChannelName, type Content } from '../domain/message.ts';
import type { LoggedAttempt } from './messageRows.ts';

export interface NewMessage {
  readonly id: string;
  readonly channel: ChannelName;
  readonly content: Content;
  /** Messages of one stream are delivered one at a time, in order. */
  readonly stream: string | undefined;
}

/** Inserts messages in order, due at once. A message with an existing id is ignored. */
export async function insertMessages(
  tx: Queryable,
  messages: readonly NewMessage[],
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into messages (id, channel, kind, content, stream, next_attempt_at, created_at)
     select id, channel, kind, content, stream, $6, $6
       from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], $5::text[])
            with ordinality as u (id, channel, kind, content, stream, place)
      order by place
     on conflict (id) do nothing`,
    [
      messages.map(({ id }) => id),
      messages.map(({ channel }) => channel),
      messages.map(({ content }) => content.kind),
      messages.map(({ content }) => JSON.stringify(content)),
      messages.map(({ stream }) => stream ?? null),
      now.toISOString(),
    ],
  );
}

/** How many single alerts each channel got since a time. */
export async function countSingles(
  db: Queryable,
  since: Date,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ channel: string; singles: number }>(
    `select channel, count(*) as singles
       from messages
      where kind = 'alert' and created_at > $1
      group by channel
      limit 100`,
    [since.toISOString()],
  );
  return new Map(rows.map(({ channel, singles }) => [channel, singles]));
}

/** A message with a delivery in progress. */
export interface ClaimedMessage {
  readonly id: string;
  readonly content: Content;
  /** Including this one. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** When a person last had it sent again. */
  readonly resentAt: Date | null;
}

/**
 * Claims the message of a channel that has been due for longest, until the lease ends. A message waits
 * while an earlier one of its stream is not settled.
 * @returns undefined when nothing is due, or others have claimed all of it
 */
export async function claimMessage(
  tx: Queryable,
  claim: { readonly channel: ChannelName; readonly now: Date; readonly leaseUntil: Date },
): Promise<ClaimedMessage | undefined> {
  const rows = await tx.query<ClaimedMessage>(
    `update messages
        set attempts = attempts + 1, next_attempt_at = $3
      where id = (
        select m.id
          from messages m
         where m.channel = $1 and m.state = 'due' and m.next_attempt_at <= $2
           and (m.stream is null
                or not exists (select from messages earlier
                                where earlier.stream = m.stream and earlier.state = 'due'
                                  and earlier.number < m.number))
         order by m.next_attempt_at, m.number
         limit 1
           for update of m skip locked)
     returning id, content, attempts, created_at as "createdAt", resent_at as "resentAt"`,
    [claim.channel, claim.now.toISOString(), claim.leaseUntil.toISOString()],
  );
  return rows[0];
}

/** Attempts beyond this are forgotten, the oldest first. */
const MAX_LOGGED_ATTEMPTS = 50;

/** The log with the attempt in a parameter; unchanged if that is null. */
function logWith(parameter: string): string {
  return `case when ${parameter}::jsonb is null then attempt_log
               when jsonb_array_length(attempt_log) < ${MAX_LOGGED_ATTEMPTS}
               then attempt_log || ${parameter}::jsonb
               else (attempt_log - 0) || ${parameter}::jsonb end`;
}

function attemptOrNull(attempt: LoggedAttempt | undefined): string | null {
  return attempt === undefined ? null : JSON.stringify(attempt);
}

/** Settles a message: it was delivered or has failed for good. */
export async function settleMessage(
  tx: Queryable,
  id: string,
  end: {
    readonly state: 'delivered' | 'failed';
    readonly at: Date;
    readonly error: string | null;
    readonly attempt?: LoggedAttempt;
  },
): Promise<void> {
  await tx.query(
    `update messages
        set state = $2, settled_at = $3, last_error = coalesce($4, last_error),
            attempt_log = ${logWith('$5')}
      where id = $1 and state = 'due'`,
    [id, end.state, end.at.toISOString(), end.error, attemptOrNull(end.attempt)],
  );
}

/**
 * Postpones a message to a later attempt. Does nothing if another attempt has begun since: that one
 * owns the message.
 */
export async function postponeMessage(
  tx: Queryable,
  { id, attempts }: Pick<ClaimedMessage, 'id' | 'attempts'>,
  later: { readonly until: Date; readonly error: string; readonly attempt?: LoggedAttempt },
): Promise<void> {
  await tx.query(
    `update messages
        set next_attempt_at = $3, last_error = $4, attempt_log = ${logWith('$5')}
      where id = $1 and attempts = $2 and state = 'due'`,
    [id, attempts, later.until.toISOString(), later.error, attemptOrNull(later.attempt)],
  );
}

/** Channels with due messages. */
export async function readDueChannels(db: Queryable, now: Date): Promise<readonly ChannelName[]> {
  const rows = await db.query<{ channel: ChannelName }>(
    `select channel
       from unnest($2::text[]) as c (channel)
      where exists (select from messages m
                     where m.channel = c.channel and m.state = 'due' and m.next_attempt_at <= $1)
      limit 100`,
    [now.toISOString(), CHANNELS],
  );
  return rows.map(({ channel }) => channel);
}

/** Whether a message is removable. */
const IS_REMOVABLE = `state <> 'due' and settled_at < $1`;

/** Messages that were settled before a time, the longest settled first. */
export async function scanSettled(
  db: Queryable,
  { before, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(
    `select number as key, true as "isPast", true as "isRemovable"
       from messages
      where ${IS_REMOVABLE}
      order by settled_at
      limit $2`,
    [before, limit],
  );
}

export async function deleteSettled(
  tx: Queryable,
  numbers: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await tx.query(
    `delete from messages
      where number = any ($2::bigint[]) and ${IS_REMOVABLE}
     returning number`,
    [before, numbers],
  );
  return rows.length;
}

export async function measureSettled(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `select (select count(*) from (select from messages limit $2) m) as rows,
            least((select min(settled_at) from messages where state <> 'due'),
                  (select min(created_at) from messages where state = 'due')) as oldest,
            (select count(*) from (select from messages where ${IS_REMOVABLE} limit $2) m)
              as removable`,
    [before, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}

/**
 * Fails up to `limit` messages to channels that are not in the list, if they were created before a time
 * and no attempt is in progress.
 */
export async function giveUpAbandoned(
  db: Queryable,
  abandoned: {
    readonly channels: readonly ChannelName[];
    readonly before: Date;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<void> {
  const { channels, before, now, limit } = abandoned;
  await db.query(
    `update messages
        set state = 'failed', settled_at = $3, last_error = coalesce(last_error, 'never tried')
      where id = any (array(select id from messages
                             where state = 'due' and channel <> all ($1::text[])
                               and created_at < $2 and next_attempt_at < $3
                             order by number limit $4 for update skip locked))`,
    [channels, before.toISOString(), now.toISOString(), limit],
  );
}

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
 * Claims the messages of a channel that have been due for longest, until the lease ends. A message waits
 * while an earlier one of its stream is not settled.
 * @returns none when nothing is due, or others have claimed all of it
 */
export async function claimMessages(
  tx: Queryable,
  claim: {
    readonly channel: ChannelName;
    readonly now: Date;
    readonly leaseUntil: Date;
    readonly limit: number;
  },
): Promise<readonly ClaimedMessage[]> {
  return await tx.query<ClaimedMessage>(
    `update messages
        set attempts = attempts + 1, next_attempt_at = $3
      where id = any (array(
        select m.id
          from messages m
         where m.channel = $1 and m.state = 'due' and m.next_attempt_at <= $2
           and (m.stream is null
                or not exists (select from messages earlier
                                where earlier.stream = m.stream and earlier.state = 'due'
                                  and earlier.number < m.number))
         order by m.next_attempt_at, m.number
         limit $4
           for update of m skip locked))
     returning id, content, attempts, created_at as "createdAt", resent_at as "resentAt"`,
    [claim.channel, claim.now.toISOString(), claim.leaseUntil.toISOString(), claim.limit],
  );
}

/** Attempts beyond this are forgotten, the oldest first. */
const MAX_LOGGED_ATTEMPTS = 50;

/** A log with one more attempt; unchanged if that is null. */
function logWith(log: string, attempt: string): string {
  return `case when ${attempt} is null then ${log}
               when jsonb_array_length(${log}) < ${MAX_LOGGED_ATTEMPTS} then ${log} || ${attempt}
               else (${log} - 0) || ${attempt} end`;
}

function attemptOrNull(attempt: LoggedAttempt | undefined): string | null {
  return attempt === undefined ? null : JSON.stringify(attempt);
}

/** What became of a message: it was delivered or has failed for good. */
export type MessageEnd = {
  readonly id: string;
  readonly at: Date;
  readonly error: string | null;
  readonly attempt?: LoggedAttempt;
} & (
  | { readonly state: 'delivered' }
  /** `attempts` of the claim: a later attempt owns the message, and may deliver it. */
  | { readonly state: 'failed'; readonly attempts: number }
);

/**
 * Settles messages. Does nothing to those that are settled already, and fails none of which another attempt has
 * begun since. Rows are locked in the order of their numbers, because two processes can hold the result of an
 * attempt at the same message.
 * @returns how many it settled
 */
export async function settleMessages(tx: Queryable, ends: readonly MessageEnd[]): Promise<number> {
  const rows = await tx.query(
    `with ended as (
       select m.number, u.state, u.at, u.error, u.attempt
         from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::jsonb[], $6::integer[])
              as u (id, state, at, error, attempt, attempts)
         join messages m on m.id = u.id
        where m.state = 'due' and (u.state = 'delivered' or m.attempts = u.attempts)
        order by m.number
          for update of m
     )
     update messages m
        set state = ended.state, settled_at = ended.at,
            last_error = coalesce(ended.error, m.last_error),
            attempt_log = ${logWith('m.attempt_log', 'ended.attempt')}
       from ended
      where m.number = ended.number
     returning m.id`,
    [
      ends.map(({ id }) => id),
      ends.map(({ state }) => state),
      ends.map(({ at }) => at.toISOString()),
      ends.map(({ error }) => error),
      ends.map(({ attempt }) => attemptOrNull(attempt)),
      ends.map((end) => (end.state === 'failed' ? end.attempts : null)),
    ],
  );
  return rows.length;
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
        set next_attempt_at = $3, last_error = $4, attempt_log = ${logWith('attempt_log', '$5::jsonb')}
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

/** When the last attempt of a message ended. */
const ATTEMPTED_AT = `(m.attempt_log -> -1 ->> 'at')::timestamptz`;

/** Whether an attempt has no entry in the log: it is in progress, or its process ended. */
const IS_UNLOGGED = `coalesce((m.attempt_log -> -1 ->> 'attempt')::integer, 0) < m.attempts`;

/**
 * Makes messages due that wait since a time after `latestPast`, up to `limit` of each channel: since they were
 * created, sent again or last tried. One with an attempt in progress waits until `latestLease` at most. Those that
 * others are at are skipped.
 */
export async function endWrongWaits(
  db: Queryable,
  waits: {
    readonly channels: readonly ChannelName[];
    readonly now: Date;
    readonly latestPast: Date;
    readonly latestLease: Date;
    readonly limit: number;
  },
): Promise<void> {
  const { channels, now, latestPast, latestLease, limit } = waits;
  await db.query(
    `update messages
        set next_attempt_at = $2
      where number = any (array(
        select late.number
          from unnest($1::text[]) as c (channel)
         cross join lateral (
           select m.number
             from messages m
            where m.channel = c.channel and m.state = 'due' and m.next_attempt_at > $3
              and (m.attempts = 0 or greatest(m.resent_at, ${ATTEMPTED_AT}) > $3
                   or (${IS_UNLOGGED} and m.next_attempt_at > $4))
            order by m.next_attempt_at, m.number
            limit $5
              for update skip locked) late))`,
    [channels, now.toISOString(), latestPast.toISOString(), latestLease.toISOString(), limit],
  );
}

/**
 * Fails up to `limit` messages to channels, if they were created before a time
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
                             where state = 'due' and channel = any ($1::text[])
                               and created_at < $2 and next_attempt_at < $3
                             order by number limit $4 for update skip locked))`,
    [channels, before.toISOString(), now.toISOString(), limit],
  );
}

/** Statements on messages: what is due to each channel, and what became of it. */
import type { Queryable } from '../../platform/db/database.ts';
import { CHANNELS, type ChannelName, type Content } from '../domain/message.ts';

export interface NewMessage {
  readonly id: string;
  readonly channel: ChannelName;
  readonly content: Content;
  /** Messages of one stream go out one after the other. */
  readonly stream: string | undefined;
}

/** Writes messages, due at once, in their order. One whose id is there already changes nothing. */
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

/** How many single alerts each channel was given since an instant. */
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

/** A message that somebody is trying to deliver. */
export interface ClaimedMessage {
  readonly id: string;
  readonly content: Content;
  /** This one included. */
  readonly attempts: number;
  readonly createdAt: Date;
}

/**
 * Takes the message of a channel that has been due for longest, until the lease ends. Behind a
 * message of its stream that is not settled, none is due.
 * @returns undefined when nothing is due, or others have all that is
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
     returning id, content, attempts, created_at as "createdAt"`,
    [claim.channel, claim.now.toISOString(), claim.leaseUntil.toISOString()],
  );
  return rows[0];
}

/** Ends a message. */
export async function settleMessage(
  tx: Queryable,
  id: string,
  end: {
    readonly state: 'delivered' | 'given_up';
    readonly at: Date;
    readonly error: string | null;
  },
): Promise<void> {
  await tx.query(
    `update messages
        set state = $2, settled_at = $3, last_error = coalesce($4, last_error)
      where id = $1 and state = 'due'`,
    [id, end.state, end.at.toISOString(), end.error],
  );
}

/**
 * Leaves a message for a later attempt. Nothing happens when another attempt than this one has begun
 * meanwhile: it has the message then.
 */
export async function postponeMessage(
  tx: Queryable,
  { id, attempts }: Pick<ClaimedMessage, 'id' | 'attempts'>,
  { until, error }: { readonly until: Date; readonly error: string },
): Promise<void> {
  await tx.query(
    `update messages
        set next_attempt_at = $3, last_error = $4
      where id = $1 and attempts = $2 and state = 'due'`,
    [id, attempts, until.toISOString(), error],
  );
}

/** Channels that have something due. */
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

/** Deletes up to `limit` messages that were settled before an instant. */
export async function deleteSettled(
  db: Queryable,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  const rows = await db.query(
    `delete from messages
      where id = any (array(select id from messages
                             where state <> 'due' and settled_at < $1
                             order by settled_at limit $2 for update skip locked))
     returning id`,
    [before.toISOString(), limit],
  );
  return rows.length;
}

/**
 * Gives up to `limit` messages up that were made before an instant, to other channels than those
 * named, and that nobody tries now.
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
        set state = 'given_up', settled_at = $3, last_error = coalesce(last_error, 'never tried')
      where id = any (array(select id from messages
                             where state = 'due' and channel <> all ($1::text[])
                               and created_at < $2 and next_attempt_at < $3
                             order by number limit $4 for update skip locked))`,
    [channels, before.toISOString(), now.toISOString(), limit],
  );
}

/** Statements that read messages for people, and send one again for them. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type Found,
  type SearchPage,
  type SearchSource,
  searchNewest,
} from '../../platform/db/search.ts';
import type { ChannelName, Content } from '../domain/message.ts';

export const MESSAGE_STATES = ['due', 'delivered', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export const MESSAGE_KINDS = ['alert', 'digest', 'summary', 'order'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** One attempt and what it met with. */
export interface LoggedAttempt {
  /** Counted from 1. */
  readonly attempt: number;
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly outcome: string;
  /** A status, never a body or an address. */
  readonly response: string;
}

export interface MessageRow {
  readonly number: number;
  readonly id: string;
  readonly channel: ChannelName;
  readonly kind: MessageKind;
  readonly content: Content;
  readonly state: MessageState;
  readonly attempts: number;
  /** The last ones, oldest first. Earlier versions recorded none. */
  readonly attemptLog: readonly LoggedAttempt[];
  readonly createdAt: Date;
  /** Null once it is settled. */
  readonly nextAttemptAt: Date | null;
  readonly settledAt: Date | null;
  readonly resentAt: Date | null;
  readonly lastError: string | null;
}

const COLUMNS = `
  number, id, channel, kind, content, state, attempts, attempt_log as "attemptLog",
  created_at as "createdAt", case when state = 'due' then next_attempt_at end as "nextAttemptAt",
  settled_at as "settledAt", resent_at as "resentAt", last_error as "lastError"`;

interface MessageFilter {
  readonly state: MessageState | undefined;
  readonly channel: ChannelName | undefined;
  readonly kind: MessageKind | undefined;
}

/** Messages of a filter, newest first. */
export function searchMessages(
  db: Queryable,
  { state, channel, kind }: MessageFilter,
  page: SearchPage,
): Promise<Found<MessageRow>> {
  const isFiltered = [state, channel, kind].some((one) => one !== undefined);
  return searchNewest<MessageRow>(
    db,
    {
      table: 'messages',
      key: 'number',
      columns: COLUMNS,
      source: sourceOf({ state, channel, kind }),
      filter: isFiltered
        ? {
            columns: 'state, channel, kind',
            where: `($5::text is null or state = $5) and ($6::text is null or channel = $6)
                    and ($7::text is null or kind = $7)`,
            values: [state ?? null, channel ?? null, kind ?? null],
          }
        : undefined,
    },
    page,
  );
}

/**
 * Due and failed messages are few, and each state has its index. Of a busy ledger nearly all others are order webhooks:
 * those to people have an index for this list alone.
 */
function sourceOf({ state, channel, kind }: MessageFilter): SearchSource {
  if (state === 'due' || state === 'failed') return { where: `state = '${state}'` };
  const isOrder = (kind ?? 'order') === 'order' && (channel ?? 'shop') === 'shop';
  return { where: isOrder ? 'true' : `kind <> 'order' and number > 0` };
}

/** @returns undefined if there is no such message, or retention removed it */
export async function readMessageRow(
  db: Queryable,
  number: number,
): Promise<MessageRow | undefined> {
  const rows = await db.query<MessageRow>(`select ${COLUMNS} from messages where number = $1`, [
    number,
  ]);
  return rows[0];
}

/** The order webhooks of changes, in the order of their numbers. */
export function readOrderWebhooks(
  db: Queryable,
  changes: readonly number[],
  limit: number,
): Promise<readonly MessageRow[]> {
  return db.query<MessageRow>(
    `select ${COLUMNS}
       from messages
      where kind = 'order' and content #>> '{data,change,number}' = any ($1::text[])
      order by number
      limit $2`,
    [changes.map(String), limit],
  );
}

/** @param id as in the headers of a message, such as `msg_1` */
export async function findMessageNumber(db: Queryable, id: string): Promise<number | undefined> {
  const rows = await db.query<{ number: number }>('select number from messages where id = $1', [
    id,
  ]);
  return rows[0]?.number;
}

/** Makes a settled message due again. @returns it; undefined if it is due already, or unknown */
export async function markResent(db: Queryable, number: number): Promise<MessageRow | undefined> {
  const rows = await db.query<MessageRow>(
    `update messages
        set state = 'due', settled_at = null, next_attempt_at = statement_timestamp(),
            resent_at = statement_timestamp()
      where number = $1 and state <> 'due'
      returning ${COLUMNS}`,
    [number],
  );
  return rows[0];
}

/**
 * Sends a delivered or failed message again for an operator, with the same id: a receiver that has it
 * recognizes it. The message and its entry in the audit log are one transaction; the delivery follows.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { ChannelName } from '../notify/domain/message.ts';
import { type MessageRow, markResent, readMessageRow } from '../notify/store/messageRows.ts';
import type { Database } from '../platform/db/database.ts';

export interface ResendParts {
  readonly db: Database;
  /** The configured channels; a message to another one would fail after three days. */
  readonly channels: readonly ChannelName[];
}

export type Resent =
  | { readonly outcome: 'due'; readonly message: MessageRow }
  | { readonly outcome: 'unknown' }
  /** It has not been settled yet. */
  | { readonly outcome: 'already_due'; readonly message: MessageRow }
  | { readonly outcome: 'no_channel'; readonly message: MessageRow };

/** @param input the number of the message, and why; not empty */
export async function resendMessageAs(
  { db, channels }: ResendParts,
  actor: Actor,
  { number, reason }: { readonly number: number; readonly reason: string },
): Promise<Resent> {
  return await db.transaction(async (tx): Promise<Resent> => {
    const before = await readMessageRow(tx, number);
    if (!before) return { outcome: 'unknown' };
    if (!channels.includes(before.channel)) return { outcome: 'no_channel', message: before };
    const message = await markResent(tx, number);
    if (!message) return { outcome: 'already_due', message: before };
    const { id, channel, kind } = message;
    await recordAudit(tx, {
      actor,
      action: 'message.resend',
      subject: { kind: 'message', id: String(number) },
      reason,
      detail: { message_id: id, channel, kind },
    });
    return { outcome: 'due', message };
  });
}

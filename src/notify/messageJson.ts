/** An outgoing message as JSON. */

import { isoOrNull } from '../representation/time.ts';
import type { Installation } from './domain/links.ts';
import { textOf } from './domain/text.ts';
import type { MessageRow } from './store/messageRows.ts';

export function messageJson(row: MessageRow, installation: Installation) {
  const { title, lines } = textOf(row.content, installation);
  return {
    number: row.number,
    message_id: row.id,
    channel: row.channel,
    kind: row.kind,
    state: row.state,
    title,
    lines: [...lines],
    attempts: row.attempts,
    attempt_log: row.attemptLog.map(({ attempt, at, outcome, response }) => ({
      attempt,
      at,
      outcome,
      response,
    })),
    last_error: row.lastError,
    created_at: row.createdAt.toISOString(),
    next_attempt_at: isoOrNull(row.nextAttemptAt),
    settled_at: isoOrNull(row.settledAt),
    resent_at: isoOrNull(row.resentAt),
  };
}

/** A session of the console as JSON. */
import type { SessionRow } from '../access/store/sessions.ts';

export function sessionJson(row: SessionRow) {
  return {
    number: row.id,
    holder: row.holder,
    sign_in: row.signIn,
    address: row.origin,
    user_agent: row.userAgent,
    started_at: row.startedAt.toISOString(),
    last_seen_at: row.lastSeenAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

/** A token as JSON, without its text. */
import type { TokenRow } from '../access/store/tokens.ts';
import { isoOrNull } from './time.ts';

export function tokenJson(row: TokenRow) {
  return {
    name: row.name,
    role: row.role,
    state: row.state,
    created_at: row.createdAt.toISOString(),
    created_by: row.createdBy,
    last_used_at: isoOrNull(row.lastUsedAt),
    expires_at: isoOrNull(row.expiresAt),
    revoked_at: isoOrNull(row.revokedAt),
    revoked_by: row.revokedBy,
  };
}

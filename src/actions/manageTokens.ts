/** Creates and revokes tokens for an operator. */
import { type CreatedToken, createToken, type TokenRequest } from '../access/createToken.ts';
import { type NamedToken, revokeToken, type TokenRow } from '../access/store/tokens.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';

export function createTokenAs(
  { db }: { readonly db: Database },
  actor: Actor,
  request: TokenRequest,
): Promise<CreatedToken> {
  return db.transaction(async (tx) => {
    const created = await createToken(tx, request, actor.name);
    if (created.outcome === 'created') {
      const { name, role, expiresAt } = created.token;
      await recordAudit(tx, {
        actor,
        action: 'token.create',
        subject: { kind: 'token', id: name },
        detail: { role, expires_at: expiresAt?.toISOString() ?? null },
      });
    }
    return created;
  });
}

export type RevokedToken =
  | { readonly outcome: 'revoked'; readonly token: TokenRow }
  | { readonly outcome: 'unknown' };

export function revokeTokenAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { name, id }: NamedToken,
): Promise<RevokedToken> {
  return db.transaction(async (tx): Promise<RevokedToken> => {
    const token = await revokeToken(tx, { name, id, by: actor.name });
    if (!token) return { outcome: 'unknown' };
    const { role } = token;
    await recordAudit(tx, {
      actor,
      action: 'token.revoke',
      subject: { kind: 'token', id: name },
      detail: { role },
    });
    return { outcome: 'revoked', token };
  });
}

/**
 * A person captures or cancels an authorization: the service is told, then asked, and what it says is
 * applied, so that the ledger never depends on the answer to the request alone.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { AuthorizationCheck } from './checkAuthorizations.ts';
import { capturableMinor } from './domain/capturable.ts';
import type { Acted, Asked, AuthorizationRequest, AuthorizationService } from './service.ts';
import { readAuthorization } from './store/authorizations.ts';

export interface ActParts {
  readonly db: Queryable;
  readonly service: AuthorizationService;
  readonly check: AuthorizationCheck;
}

/** What an authorization holds; undefined in the ledger when it does not know the payment. */
export interface Held {
  readonly status: string | null;
  readonly currency: string | null;
  readonly orderKey: string | null;
  /** Minor units; 0 when nothing can be captured. */
  readonly capturableMinor: number;
}

/** Asks the service about a payment first, and says what it holds. */
export async function readHeld(
  { db, service }: Pick<ActParts, 'db' | 'service'>,
  paymentId: string,
): Promise<{ readonly asked: Asked; readonly held: Held | undefined }> {
  const asked = await service.refresh(paymentId);
  return { asked, held: await heldOf(db, paymentId) };
}

/**
 * Sends the request once, then asks what became of it, whatever the answer was. A request whose answer
 * was lost counts as done when the service then shows less to be captured than before.
 */
export async function actOn(
  { db, service, check }: ActParts,
  request: AuthorizationRequest,
): Promise<{ readonly acted: Acted; readonly asked: Asked; readonly held: Held | undefined }> {
  const before = await heldOf(db, request.paymentId);
  const acted = await service.act(request);
  const asked = await service.refresh(request.paymentId);
  await check.look(request.paymentId);
  const held = await heldOf(db, request.paymentId);
  const shows =
    asked.outcome === 'applied' && (held?.capturableMinor ?? 0) < (before?.capturableMinor ?? 0);
  return { acted: acted.outcome === 'unknown' && shows ? { outcome: 'done' } : acted, asked, held };
}

async function heldOf(db: Queryable, paymentId: string): Promise<Held | undefined> {
  const row = await readAuthorization(db, paymentId);
  return (
    row && {
      status: row.status,
      currency: row.currency,
      orderKey: row.orderKey,
      capturableMinor: capturableMinor(row),
    }
  );
}

/**
 * Captures or cancels an authorization for a person: sends the request, then retrieves the payment and
 * applies it, so that the ledger does not depend on the response to the request alone.
 */

import type { ActionOutcome } from '../outcomes/action.ts';
import type { RefreshOutcome } from '../outcomes/refresh.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { AuthorizationRequest, AuthorizationService } from './authorizationService.ts';
import type { AuthorizationCheck } from './checkAuthorizations.ts';
import { capturableMinor } from './domain/capturable.ts';
import { readAuthorization } from './store/authorizations.ts';

export interface ActionParts {
  readonly db: Queryable;
  readonly service: AuthorizationService;
  readonly check: AuthorizationCheck;
}

/** What the ledger has of a hold. */
export interface Hold {
  readonly status: string | null;
  readonly currency: string | null;
  readonly orderKey: string | null;
  /** Minor units; 0 when nothing can be captured. */
  readonly capturableMinor: number;
  /** Minor units, of all captures so far. */
  readonly capturedMinor: number;
  readonly captureMethod: string | null;
}

/** A hold, and whether the service has just confirmed it. `hold` is undefined for an unknown payment. */
export interface RefreshedHold {
  readonly refreshed: RefreshOutcome;
  readonly hold: Hold | undefined;
}

/** Retrieves a payment, and reads what it holds. */
export async function refreshHold(
  { db, service }: Pick<ActionParts, 'db' | 'service'>,
  paymentId: string,
): Promise<RefreshedHold> {
  const refreshed = await service.refresh(paymentId);
  return { refreshed, hold: await readHold(db, paymentId) };
}

/**
 * Sends the request once, and retrieves the payment after any response. When the response is lost, the
 * request counts as done only if the service then shows what it was sent for: a hold also ends by a request of
 * somebody else, or because it expires.
 */
export async function captureOrCancel(
  { db, service, check }: ActionParts,
  request: AuthorizationRequest,
): Promise<RefreshedHold & { readonly result: ActionOutcome }> {
  const before = await readHold(db, request.paymentId);
  const sent = await service.act(request);
  const refreshed = await service.refresh(request.paymentId);
  await check.checkOne(request.paymentId, refreshed.outcome === 'applied');
  const hold = await readHold(db, request.paymentId);
  const isDone = refreshed.outcome === 'applied' && isShown(request, before, hold);
  const result = sent.outcome === 'unknown' && isDone ? ({ outcome: 'done' } as const) : sent;
  return { result, refreshed, hold };
}

/** Whether a capture took its amount, or a cancellation released the hold and nothing was captured. */
function isShown(
  { action, amountMinor }: AuthorizationRequest,
  before: Hold | undefined,
  after: Hold | undefined,
): boolean {
  if (!before || !after || after.capturableMinor >= before.capturableMinor) return false;
  const takenMinor = after.capturedMinor - before.capturedMinor;
  return action === 'capture'
    ? takenMinor >= (amountMinor ?? before.capturableMinor)
    : takenMinor === 0;
}

async function readHold(db: Queryable, paymentId: string): Promise<Hold | undefined> {
  const row = await readAuthorization(db, paymentId);
  return (
    row && {
      status: row.status,
      currency: row.currency,
      orderKey: row.orderKey,
      capturableMinor: capturableMinor(row),
      capturedMinor: row.capturedMinor,
      captureMethod: row.captureMethod,
    }
  );
}

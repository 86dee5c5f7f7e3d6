/**
 * Retrieves what people are about to be alerted about, because the ledger may be behind: a webhook was lost, or
 * Tallyhook was stopped for days.
 *
 * 1. While reconciliation is paused, and once the service is unavailable, nothing more is requested: each request
 *    would wait for the same timeout.
 * 2. A process that is shutting down confirms nothing, so that nobody is alerted by what it could not retrieve.
 * 3. One that cannot be retrieved or applied delays no other. It waits LOCK_WAIT_MS for what another transaction
 *    holds. A failure that affects every transaction is thrown.
 */
import type { Confirm } from '../alerts/confirm.ts';
import { PaymentServiceError } from '../client/index.ts';
import { type ResourceRef, refKey } from '../ledger/domain/snapshot.ts';
import { affectsEveryTransaction } from '../platform/db/failures.ts';
import { limitingLockWaits } from '../platform/db/lockWaits.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { affectsEveryRequest } from './domain/failures.ts';
import { createRetrieve, type RetrieveParts } from './retrieve.ts';
import { isPaused } from './store/pauses.ts';

const LOCK_WAIT_MS = 500;

type Retrieval = 'confirmed' | 'unknown' | 'unavailable' | 'stopped';

export interface ConfirmParts extends RetrieveParts {
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function createConfirm({ log, signal, ...parts }: ConfirmParts): Confirm {
  const retrieve = createRetrieve({ ...parts, db: limitingLockWaits(parts.db, LOCK_WAIT_MS) });
  const retrieveOne = async (ref: ResourceRef): Promise<Retrieval> => {
    try {
      const found = await retrieve(ref, { lane: 'refresh', signal });
      if (found.outcome === 'applied') return 'confirmed';
      const isUnavailable = found.outcome === 'failed' && affectsEveryRequest(found.failure);
      return isUnavailable ? 'unavailable' : 'unknown';
    } catch (thrown) {
      if (thrown instanceof PaymentServiceError) return 'stopped';
      if (affectsEveryTransaction(thrown)) throw thrown;
      log.warn({ error: toError(thrown), kind: ref.kind, id: ref.id }, 'reconcile.confirm_failed');
      return 'unknown';
    }
  };
  return async (refs) => {
    const confirmed = new Set<string>();
    for (const ref of refs) {
      if (await isPaused(parts.db)) break;
      const outcome = await retrieveOne(ref);
      if (outcome === 'stopped') return undefined;
      if (outcome === 'unavailable') break;
      if (outcome === 'confirmed') confirmed.add(refKey(ref));
    }
    return confirmed;
  };
}

/**
 * Pays a payout that failed again, for a person.
 *
 * 1. A payout is paid again at most once. If the new one fails, that one is paid again.
 * 2. The audit log has an entry before the request is sent, which is also the claim. It never has the
 *    details of an account: they are sent to the service and stored nowhere here.
 * 3. The payout is retrieved after the claim, and the new one is looked for by its reference, in the ledger
 *    and in the service's list. Nothing is sent unless the list could be read.
 * 4. The service chooses the id of a payout, so a lost request may still arrive. After an attempt with an
 *    unknown outcome, also one that a person closed as unknown, nothing is sent for an hour; after that, the
 *    list shows whether it arrived.
 */
import type { Actor } from '../audit/domain/actor.ts';
import type { FinalResult } from '../audit/domain/entry.ts';
import {
  type Attempted,
  type ClaimedAttempt,
  recordExclusiveAttempt,
} from '../audit/recordAudit.ts';
import { readLastUnknown } from '../audit/store/audit.ts';
import { isUndonePayout } from '../contract/reasons.ts';
import type { AccountDetailsRequest } from '../contract/requests/payoutMethod.ts';
import type { Payout } from '../contract/resources/payout.ts';
import { parseInstantMicros } from '../ledger/domain/time.ts';
import { findPayoutsByReference } from '../ledger/read/store/lookup.ts';
import { readListedResource } from '../ledger/read/store/resourceList.ts';
import { againReference, type PayoutMethod, requestOf } from '../payouts/domain/payAgain.ts';
import type { Created, PayoutService } from '../payouts/payoutService.ts';
import type { Database } from '../platform/db/database.ts';
import { HOUR_MS } from '../platform/time.ts';

export interface PayoutParts {
  readonly db: Database;
  readonly service: PayoutService;
}

/** What the person saw. */
export interface RetryInput {
  readonly payoutId: string;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly reason: string;
  /** Undefined: the stored method of the payout. */
  readonly details: AccountDetailsRequest | undefined;
}

export type Retried =
  | Created
  /** Nothing was sent: it was paid again before. */
  | { readonly outcome: 'existing'; readonly payoutId: string }
  /** Nothing was sent: the payout did not fail, or is not what the person saw. */
  | { readonly outcome: 'changed'; readonly status: string | null }
  /** Nothing was sent: the service returned no stored method, or the details are for another type. */
  | { readonly outcome: 'no_method'; readonly hasDetails: boolean }
  /** Nothing was sent (rule 4). */
  | { readonly outcome: 'uncertain'; readonly until: Date };

export type RetriedAs = (Retried & { readonly attempt: number }) | ClaimedAttempt;

const ACTION = 'payout.retry';
/** Rule 4: longer than any request of the service takes. */
const UNCERTAIN_MS = HOUR_MS;

export async function retryPayoutAs(
  parts: PayoutParts,
  actor: Actor,
  input: RetryInput,
): Promise<RetriedAs> {
  const { payoutId, amountMinor, currency, reason, details } = input;
  const known = await readListedResource(parts.db, { kind: 'payout', id: payoutId });
  const intent = {
    actor,
    action: ACTION,
    subject: { kind: 'payout', id: payoutId },
    orderKey: known?.orderKey ?? null,
    reason,
    detail: { amount: amountMinor, currency, method: details ? 'typed' : 'stored' },
  } as const;
  return recordExclusiveAttempt(parts.db, intent, async (attempt) =>
    recordOf(attempt, await retry(parts, input)),
  );
}

const RESULTS: Readonly<Record<Retried['outcome'], FinalResult>> = {
  done: 'done',
  existing: 'refused',
  changed: 'refused',
  no_method: 'refused',
  uncertain: 'refused',
  refused: 'refused',
  failed: 'failed',
  unknown: 'unknown',
};

function recordOf(
  attempt: number,
  retried: Retried,
): Attempted<Retried & { readonly attempt: number }> {
  const value = { ...retried, attempt };
  const result = RESULTS[retried.outcome];
  if ('payoutId' in retried) return { value, result, detail: { payout_id: retried.payoutId } };
  const error = 'reason' in retried ? retried.reason : retried.outcome.replace('_', ' ');
  return { value, result, detail: { error } };
}

/** Rules 3 and 4. */
async function retry(parts: PayoutParts, input: RetryInput): Promise<Retried> {
  const { service } = parts;
  const { payoutId } = input;
  const refreshed = await service.refresh(payoutId);
  if (refreshed.outcome === 'failed') {
    return { outcome: 'failed', reason: `it cannot be retrieved: ${refreshed.reason}` };
  }
  const { payout } = refreshed;
  if (!isSeen(payout, input)) return { outcome: 'changed', status: payout.status ?? null };
  const inLedger = await readPaidAgain(parts.db, payoutId);
  if (inLedger !== undefined) return { outcome: 'existing', payoutId: inLedger };
  const reference = againReference(payoutId);
  const found = await service.find(reference, againSince(payout));
  if (found.outcome === 'found') return { outcome: 'existing', payoutId: found.payoutId };
  if (found.outcome === 'not_listed') {
    const reason = `the service does not show whether it was paid again: ${found.reason}`;
    return { outcome: 'failed', reason };
  }
  const until = await uncertainUntil(parts, payoutId);
  if (until) return { outcome: 'uncertain', until };
  const method = methodOf(payout, input.details);
  const request = method && requestOf(payout, method);
  if (!request) return { outcome: 'no_method', hasDetails: input.details !== undefined };
  const created = await service.create(request);
  if (created.outcome !== 'unknown') return created;
  const after = await service.find(reference, againSince(payout));
  if (after.outcome !== 'found') return created;
  const applied = await readListedResource(parts.db, { kind: 'payout', id: after.payoutId });
  return { outcome: 'done', payoutId: after.payoutId, status: applied?.status ?? null };
}

function isSeen(payout: Payout, { amountMinor, currency }: RetryInput): boolean {
  return (
    isUndonePayout(payout.status) && payout.amount === amountMinor && payout.currency === currency
  );
}

/** The payout that replaces this one, as far as the ledger knows. */
export async function readPaidAgain(
  db: Pick<Database, 'query'>,
  payoutId: string,
): Promise<string | undefined> {
  const page = { after: undefined, limit: 1 };
  const [row] = await findPayoutsByReference(db, againReference(payoutId), page);
  return row?.id;
}

/**
 * The time since which the list can have the payout that replaces this one, ISO 8601; undefined for all of it.
 * By the local time of a machine, a time without a zone could be later than that payout, which would then be
 * paid once more.
 */
export function againSince({ created }: Payout): string | undefined {
  const micros = parseInstantMicros(created);
  return micros === undefined ? undefined : new Date(Math.floor(micros / 1000)).toISOString();
}

async function uncertainUntil({ db }: PayoutParts, payoutId: string): Promise<Date | undefined> {
  const last = await readLastUnknown(db, {
    action: ACTION,
    subject: { kind: 'payout', id: payoutId },
    withinMs: UNCERTAIN_MS,
  });
  return last && new Date(last.getTime() + UNCERTAIN_MS);
}

function methodOf(
  payout: Payout,
  details: AccountDetailsRequest | undefined,
): PayoutMethod | undefined {
  if (details) return { kind: 'typed', details };
  const id = payout.payout_method_id;
  return id ? { kind: 'stored', id } : undefined;
}

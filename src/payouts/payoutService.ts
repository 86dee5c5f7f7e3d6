/** The payment service as payouts of a person use it. service-interface.md §4.8 and §4.10. */
import { PaymentServiceError } from '../client/index.ts';
import type { CreatePayoutRequest } from '../contract/requests/payouts.ts';
import { type Payout, payoutSchema } from '../contract/resources/payout.ts';
import { type ActionOutcome, attempt, type FailedAction } from '../outcomes/action.ts';
import { type FailedRead, failedRead, notApplied } from '../outcomes/refresh.ts';
import {
  createObserve,
  createRetrieve,
  noteResponse,
  type RetrieveParts,
} from '../reconcile/retrieve.ts';

export type PayoutRead = { readonly outcome: 'read'; readonly payout: Payout } | FailedRead;

export type Found =
  | { readonly outcome: 'found'; readonly payoutId: string }
  /** The list is complete, and has none. */
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'not_listed'; readonly reason: string };

export type Created =
  | { readonly outcome: 'done'; readonly payoutId: string; readonly status: string | null }
  | FailedAction;

/** Failures of the service are outcomes here; nothing is thrown for them. */
export interface PayoutService {
  /** Returns a payout as the service has it, and changes nothing. */
  readonly read: (payoutId: string) => Promise<PayoutRead>;
  /** Retrieves a payout and applies the response. */
  readonly refresh: (payoutId: string) => Promise<PayoutRead>;
  /** Looks for a payout in the service's list, and applies the row. @param since ISO 8601 */
  readonly find: (reference: string, since: string | undefined) => Promise<Found>;
  /** Creates a payout, and applies the response. Never sent twice. */
  readonly create: (request: CreatePayoutRequest) => Promise<Created>;
  /** Never sent twice. The caller retrieves the payout afterwards. */
  readonly act: (action: 'cancel' | 'fulfill', payoutId: string) => Promise<ActionOutcome>;
}

const LANE = { lane: 'operator' } as const;
/** A service that ignores the filter of the reference returns every payout since then. */
const MAX_ROWS = 2_000;
/** Rows of a list may have few fields. Without its reference, a payout is retrieved. */
const MAX_SHORT_ROWS = 20;

const SHORT_ROWS: Found = {
  outcome: 'not_listed',
  reason: 'its list leaves out the references of payouts',
};

type PayoutList = RetrieveParts['client']['payouts'];

async function search(
  payouts: PayoutList,
  reference: string,
  since: string | undefined,
): Promise<Found> {
  const filter = {
    merchant_order_reference_id: reference,
    ...(since !== undefined && { start_time: since }),
  };
  let rows = 0;
  let shortRows = 0;
  for await (const row of payouts.iterate(filter, LANE)) {
    if (row.merchant_order_reference_id === undefined) shortRows += 1;
    const stated = shortRows > MAX_SHORT_ROWS ? undefined : await referenceOf(payouts, row);
    if (stated === undefined) return SHORT_ROWS;
    if (stated === reference) return { outcome: 'found', payoutId: row.payout_id };
    rows += 1;
    if (rows >= MAX_ROWS) return { outcome: 'not_listed', reason: 'its list is too long' };
  }
  return { outcome: 'missing' };
}

/** Undefined: the service does not show it. */
async function referenceOf(payouts: PayoutList, row: Payout): Promise<string | null | undefined> {
  const { merchant_order_reference_id: stated, payout_id: id } = row;
  if (stated !== undefined) return stated;
  return (await payouts.retrieve(id, {}, LANE)).merchant_order_reference_id;
}

export function createPayoutService(parts: RetrieveParts): PayoutService {
  const { payouts } = parts.client;
  const retrieve = createRetrieve(parts);
  const observe = createObserve(parts);

  return {
    read: async (id) => {
      try {
        return { outcome: 'read', payout: await payouts.retrieve(id, {}, LANE) };
      } catch (error) {
        return failedRead(error);
      }
    },
    refresh: async (id) => {
      const found = await retrieve({ kind: 'payout', id }, LANE);
      if (found.outcome !== 'applied') return notApplied(found);
      const read = payoutSchema.safeParse(found.body);
      return read.success
        ? { outcome: 'read', payout: read.data }
        : { outcome: 'failed', reason: 'it cannot be read', isUnavailable: false };
    },
    find: async (reference, since) => {
      try {
        const found = await search(payouts, reference, since);
        if (found.outcome === 'found') await retrieve({ kind: 'payout', id: found.payoutId }, LANE);
        return found;
      } catch (error) {
        if (!(error instanceof PaymentServiceError)) throw error;
        return { outcome: 'not_listed', reason: error.message };
      }
    },
    create: (request) =>
      attempt(async () => {
        const { onResponse, circumstances } = noteResponse();
        const payout = await payouts.create(request, { ...LANE, onResponse });
        const ref = { kind: 'payout', id: payout.payout_id } as const;
        await observe(ref, payout, circumstances());
        return { outcome: 'done', payoutId: payout.payout_id, status: payout.status ?? null };
      }),
    act: (action, id) =>
      attempt(async () => {
        await payouts[action](id, LANE);
        return { outcome: 'done' };
      }),
  };
}

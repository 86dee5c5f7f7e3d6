/** The payment service as refunds of a person use it. */
import type { Refund } from '../contract/resources/refund.ts';
import { normalizeStatus } from '../contract/statuses.ts';
import { type ActionOutcome, attempt } from '../outcomes/action.ts';
import { failedRead, notApplied, type RefreshOutcome } from '../outcomes/refresh.ts';
import {
  createObserve,
  createRetrieve,
  noteResponse,
  type RetrieveParts,
} from '../reconcile/retrieve.ts';

export interface RefundRequest {
  readonly paymentId: string;
  /** Chosen by Tallyhook, so that the refund can be found after a lost response. */
  readonly refundId: string;
  readonly amountMinor: number;
  readonly reason: string;
}

/** Failures of the service are outcomes here; nothing is thrown for them. */
export interface RefundService {
  /** Retrieves a payment and every refund that the service lists for it, and applies the responses. */
  readonly refresh: (paymentId: string) => Promise<RefreshOutcome>;
  /** Retrieves one refund and applies the response. */
  readonly find: (refundId: string) => Promise<'found' | 'missing' | 'not_retrieved'>;
  /** Refunds, and applies the response. Never sent twice. */
  readonly refund: (request: RefundRequest) => Promise<ActionOutcome>;
}

const LANE = { lane: 'operator' } as const;

/** The contract leaves the filters of this list open: a service that ignores the payment lists every refund. */
const MAX_OTHERS = 10_000;
/** Of a payment, or of a list with rows that do not name their payment. */
const MAX_RETRIEVED = 500;

const TOO_LONG = {
  outcome: 'failed',
  reason: "the service's list of refunds cannot be narrowed to one payment, and is too long",
  isUnavailable: false,
} as const;

export function createRefundService(parts: RetrieveParts): RefundService {
  const { client } = parts;
  const retrieve = createRetrieve(parts);
  const observe = createObserve(parts);

  const refreshOne = async (ref: Parameters<typeof retrieve>[0]): Promise<RefreshOutcome> => {
    const found = await retrieve(ref, LANE);
    return found.outcome === 'applied' ? { outcome: 'applied' } : notApplied(found);
  };
  const refreshRefunds = async (paymentId: string): Promise<RefreshOutcome> => {
    let [others, retrieved] = [0, 0];
    for await (const row of client.refunds.iterate({ payment_id: paymentId }, LANE)) {
      if (others > MAX_OTHERS || retrieved > MAX_RETRIEVED) return TOO_LONG;
      if ((row.payment_id ?? paymentId) !== paymentId) {
        others += 1;
        continue;
      }
      retrieved += 1;
      const refreshed = await refreshOne({ kind: 'refund', id: row.refund_id });
      if (refreshed.outcome !== 'applied') return refreshed;
    }
    return { outcome: 'applied' };
  };

  return {
    refresh: async (paymentId) => {
      const payment = await refreshOne({ kind: 'payment', id: paymentId });
      return payment.outcome === 'applied'
        ? await refreshRefunds(paymentId).catch(failedRead)
        : payment;
    },
    find: async (id) => {
      const found = await retrieve({ kind: 'refund', id }, LANE);
      if (found.outcome === 'applied') return 'found';
      return found.outcome === 'missing' ? 'missing' : 'not_retrieved';
    },
    refund: ({ paymentId, refundId, amountMinor, reason }) =>
      attempt(async (): Promise<ActionOutcome> => {
        const { onResponse, circumstances } = noteResponse();
        const body = { payment_id: paymentId, refund_id: refundId, amount: amountMinor, reason };
        const { refund } = await client.refunds.create(body, { ...LANE, onResponse });
        const ref = { kind: 'refund', id: refundId } as const;
        await observe(ref, refund, circumstances());
        return hasFailed(refund)
          ? { outcome: 'refused', reason: reasonOf(refund) }
          : { outcome: 'done' };
      }),
  };
}

function hasFailed({ status }: Refund): boolean {
  return normalizeStatus('refund', status ?? '') === 'failed';
}

function reasonOf({ error_message: own, unified_message: unified }: Refund): string {
  return own ?? unified ?? 'the refund failed';
}

/** Routes for refunds. service-interface.md §4.5 and §4.10. */
import { accept, type Decision, rejectUnknown } from '../domain/decision.ts';
import { createRefund, type RefundState, updateRefund } from '../domain/refund.ts';
import { responseView } from '../faults/views.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { alreadyExists } from './existing.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';
import { unknownPayment } from './payments.ts';
import { retrieve } from './retrieve.ts';

type Refunds = 'createRefund' | 'updateRefund' | 'retrieveRefund' | 'listRefunds';

export const REFUND_HANDLERS: Handlers<Refunds> = {
  createRefund: ({ input }, services) => {
    const refundId = input.refund_id ?? randomId('ref_');
    return services.resources.write(async (transaction) => {
      // Under the payment's lock, so that two refunds cannot both use the same remaining amount.
      const payment = await transaction.lock('payment', input.payment_id);
      if (payment === undefined) return unknownPayment(input.payment_id);
      const isTaken = (await transaction.lock('refund', refundId)) !== undefined;
      if (isTaken) return refundExists(services, refundId);
      const totals = await transaction.refundTotals(input.payment_id);
      const created = createRefund(payment, input, {
        ...totals,
        refundId,
        decidesAfterMs: decidesAfterMs(services, refundId),
        nowMs: transaction.nowMs,
      });
      if (created.rejection) return created;
      const made = await transaction.insert({ kind: 'refund', state: created.value });
      return made
        ? accept(responseView(made, services.faults.context()))
        : refundExists(services, refundId);
    });
  },

  updateRefund: ({ params, input }, services) =>
    changeRefund(services, params.refund_id, (state, nowMs) =>
      accept(updateRefund(state, input, nowMs)),
    ),

  retrieveRefund: async ({ params }, services) =>
    (await retrieve(services, 'refund', params.refund_id)) ?? unknownRefund(params.refund_id),

  listRefunds: ({ input }, services) => listPage(services, { kind: 'refund', ...input }),
};

/** The fault `pending_first`: the processor decides the refund after this time. */
function decidesAfterMs({ faults }: Services, refundId: string): number | undefined {
  const { pending_first: rate, pending_ms: afterMs } = faults.current().refunds;
  return faults.random()('pending_first', refundId) < rate ? afterMs : undefined;
}

/** Applies a rule to a refund under its lock. */
export function changeRefund(
  { resources, faults }: Services,
  refundId: string,
  rule: (state: RefundState, nowMs: number) => Decision<RefundState>,
): Promise<Decision<object>> {
  return resources.write(async (transaction) => {
    const state = await transaction.lock('refund', refundId);
    if (state === undefined) return unknownRefund(refundId);
    const changed = rule(state, transaction.nowMs);
    if (changed.rejection) return changed;
    const saved = await transaction.save({ kind: 'refund', state: changed.value });
    return accept(responseView(saved, faults.context()));
  });
}

function unknownRefund(refundId: string): Decision<never> {
  return rejectUnknown(`No refund has the id ${refundId}`);
}

function refundExists(services: Services, refundId: string): Decision<never> {
  return alreadyExists(services, `A refund with refund_id ${refundId} exists already`);
}

/** Routes for refunds. service-interface.md §4.5 and §4.10. */
import { accept, type Decision, refuseUnknown } from '../domain/decision.ts';
import { createRefund, type RefundState, updateRefund } from '../domain/refund.ts';
import { show } from '../domain/resource.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { existsAlready } from './existing.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';
import { unknownPayment } from './payments.ts';
import { retrieve } from './retrieve.ts';

type Refunds = 'createRefund' | 'updateRefund' | 'retrieveRefund' | 'listRefunds';

export const REFUND_HANDLERS: Handlers<Refunds> = {
  createRefund: ({ input }, services) => {
    const refundId = input.refund_id ?? randomId('ref_');
    return services.books.write(async (entry) => {
      // Under the payment's lock, so that two refunds cannot both fit into what is left.
      const payment = await entry.lock('payment', input.payment_id);
      if (payment === undefined) return unknownPayment(input.payment_id);
      const isTaken = (await entry.lock('refund', refundId)) !== undefined;
      if (isTaken) return refundExists(services, refundId);
      const totals = await entry.refundTotals(input.payment_id);
      const created = createRefund(payment, input, { ...totals, refundId, nowMs: entry.nowMs });
      if (created.refusal) return created;
      const made = await entry.insert({ kind: 'refund', state: created.state });
      return made ? accept(show(made)) : refundExists(services, refundId);
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

/** Applies a rule to a refund under its lock. */
export function changeRefund(
  { books }: Services,
  refundId: string,
  rule: (state: RefundState, nowMs: number) => Decision<RefundState>,
): Promise<Decision<object>> {
  return books.write(async (entry) => {
    const state = await entry.lock('refund', refundId);
    if (state === undefined) return unknownRefund(refundId);
    const changed = rule(state, entry.nowMs);
    if (changed.refusal) return changed;
    return accept(show(await entry.save({ kind: 'refund', state: changed.state })));
  });
}

function unknownRefund(refundId: string): Decision<never> {
  return refuseUnknown(`No refund has the id ${refundId}`);
}

function refundExists(services: Services, refundId: string): Decision<never> {
  return existsAlready(services, `A refund with refund_id ${refundId} exists already`);
}

/** Routes for disputes. service-interface.md §4.10; evidence.ts has those of evidence. */
import { accept, type Decision, rejectUnknown } from '../domain/decision.ts';
import { acceptDispute, type DisputeState } from '../domain/dispute.ts';
import { responseView } from '../faults/views.ts';
import type { Services } from '../services.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';
import { retrieve } from './retrieve.ts';

type Disputes = 'retrieveDispute' | 'listDisputes' | 'acceptDispute';

export const DISPUTE_HANDLERS: Handlers<Disputes> = {
  retrieveDispute: async ({ params }, services) =>
    (await retrieve(services, 'dispute', params.dispute_id)) ?? unknownDispute(params.dispute_id),

  listDisputes: ({ input }, services) => listPage(services, { kind: 'dispute', ...input }),

  acceptDispute: ({ params }, services) =>
    changeDispute(services, params.dispute_id, acceptDispute, disputeView),
};

/** Applies a rule to a dispute under its lock, and returns the view of the changed dispute. */
export function changeDispute<Body extends object | undefined>(
  services: Services,
  disputeId: string,
  rule: (state: DisputeState, nowMs: number) => Decision<DisputeState>,
  view: (state: DisputeState, services: Services) => Body,
): Promise<Decision<Body>> {
  return services.resources.write(async (transaction): Promise<Decision<Body>> => {
    const state = await transaction.lock('dispute', disputeId);
    if (state === undefined) return unknownDispute(disputeId);
    const changed = rule(state, transaction.nowMs);
    if (changed.rejection) return changed;
    const saved = await transaction.save({ kind: 'dispute', state: changed.value });
    return accept(view(saved.state, services));
  });
}

export function disputeView(state: DisputeState, { faults }: Services): object {
  return responseView({ kind: 'dispute', state }, faults.context());
}

export function unknownDispute(disputeId: string): Decision<never> {
  return rejectUnknown(`No dispute has the id ${disputeId}`);
}

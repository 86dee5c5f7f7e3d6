/** Interface document, section Endpoints, "Other routes"; evidence has routes of its own, later. */
import { accept, type Decision, refuseUnknown } from '../domain/decision.ts';
import { acceptDispute, type DisputeState } from '../domain/dispute.ts';
import { show } from '../domain/resource.ts';
import type { Services } from '../services.ts';
import { readResource } from '../store/resources.ts';
import type { Handlers } from './handler.ts';
import { listPage } from './list.ts';

type Disputes = 'retrieveDispute' | 'listDisputes' | 'acceptDispute';

export const DISPUTE_HANDLERS: Handlers<Disputes> = {
  retrieveDispute: async ({ params }, { db }) => {
    const found = await readResource(db, 'dispute', params.dispute_id);
    return found ? accept(show(found)) : unknownDispute(params.dispute_id);
  },

  listDisputes: ({ input }, services) => listPage(services, { kind: 'dispute', ...input }),

  acceptDispute: ({ params }, services) =>
    changeDispute(services, params.dispute_id, acceptDispute),
};

/** Applies a rule to a dispute under its lock. */
export function changeDispute(
  { books }: Services,
  disputeId: string,
  rule: (state: DisputeState, nowMs: number) => Decision<DisputeState>,
): Promise<Decision<object>> {
  return books.write(async (entry) => {
    const state = await entry.lock('dispute', disputeId);
    if (state === undefined) return unknownDispute(disputeId);
    const changed = rule(state, entry.nowMs);
    if (changed.refusal) return changed;
    const resource = { kind: 'dispute', state: changed.state } as const;
    await entry.save(resource);
    return accept(show(resource));
  });
}

function unknownDispute(disputeId: string): Decision<never> {
  return refuseUnknown(`No dispute has the id ${disputeId}`);
}

/**
 * Transitions of a dispute, within a stage and between stages. The contract leaves them open; these
 * are the family's. service-interface.md §3.5.
 */
import {
  DISPUTE_STATUSES,
  type DisputeStage,
  type DisputeStatus,
} from '../../../src/contract/statuses.ts';
import {
  checkState,
  NEW,
  type StateCheck,
  type StateRefusals,
  type Transition,
} from './transition.ts';

export type DisputeOperation = 'acceptDispute' | 'submitEvidence';
export type DisputeTrigger = 'processorReports' | 'stageChanges';

export const DISPUTE_TRANSITIONS = [
  { by: 'acceptDispute', from: ['opened', 'challenged'], to: ['accepted'] },
  { by: 'submitEvidence', from: ['opened', 'challenged'], to: ['challenged'] },
  { by: 'processorReports', from: [NEW], to: ['opened'] },
  {
    by: 'processorReports',
    from: ['opened'],
    to: ['challenged', 'expired', 'accepted', 'cancelled', 'won', 'lost'],
  },
  {
    by: 'processorReports',
    from: ['challenged'],
    to: ['expired', 'accepted', 'cancelled', 'won', 'lost'],
  },
  {
    by: 'stageChanges',
    from: DISPUTE_STATUSES,
    to: DISPUTE_STATUSES,
    when: 'a lost dispute can reopen at the next stage',
  },
] as const satisfies readonly Transition<DisputeOperation | DisputeTrigger, DisputeStatus>[];

/** The stages at which a dispute can be accepted or challenged. */
const ACCEPTABLE_DISPUTE_STAGES = [
  'pre_dispute',
  'dispute',
  'pre_arbitration',
  'arbitration',
] as const satisfies readonly DisputeStage[];

const DISPUTE_REFUSALS = {
  acceptDispute: { usual: { httpStatus: 400, code: 'HE_03' } },
  submitEvidence: { usual: { httpStatus: 400, code: 'HE_03' } },
} as const satisfies Record<DisputeOperation, StateRefusals<DisputeStatus>>;

/** Whether a dispute in `status` at `stage` allows `operation`. */
export function checkDispute(
  operation: DisputeOperation,
  status: string,
  stage: string,
): StateCheck {
  const refusals = DISPUTE_REFUSALS[operation];
  if (!(ACCEPTABLE_DISPUTE_STAGES as readonly string[]).includes(stage)) {
    return { allowed: false, refusal: refusals.usual };
  }
  return checkState(DISPUTE_TRANSITIONS, refusals, operation, status);
}

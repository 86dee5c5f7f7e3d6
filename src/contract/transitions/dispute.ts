/**
 * How a dispute moves, within a stage and from stage to stage. The document leaves it open; this is
 * the family's. Interface document, section States, "Dispute".
 */
import { DISPUTE_STATUSES, type DisputeStage, type DisputeStatus } from '../statuses.ts';
import { type Judgement, judge, type Move, NEW, type StateRefusals } from './moves.ts';

export type DisputeOperation = 'acceptDispute' | 'submitEvidence';
export type DisputeHappening = 'processorReports' | 'stageChanges';

export const DISPUTE_MOVES = [
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
    when: 'a dispute that was lost can be open again at the next stage',
  },
] as const satisfies readonly Move<DisputeOperation | DisputeHappening, DisputeStatus>[];

/** The stages at which a dispute can be accepted, or contested. */
export const ACCEPTABLE_DISPUTE_STAGES = [
  'pre_dispute',
  'dispute',
  'pre_arbitration',
  'arbitration',
] as const satisfies readonly DisputeStage[];

export const DISPUTE_REFUSALS = {
  acceptDispute: { usual: { httpStatus: 400, code: 'HE_03' } },
  submitEvidence: { usual: { httpStatus: 400, code: 'HE_03' } },
} as const satisfies Record<DisputeOperation, StateRefusals<DisputeStatus>>;

/** Whether a dispute in `status` at `stage` may be changed by `operation`. */
export function judgeDispute(
  operation: DisputeOperation,
  status: string,
  stage: string,
): Judgement {
  const refusals = DISPUTE_REFUSALS[operation];
  if (!(ACCEPTABLE_DISPUTE_STAGES as readonly string[]).includes(stage)) {
    return { allowed: false, refusal: refusals.usual };
  }
  return judge(DISPUTE_MOVES, refusals, operation, status);
}

/**
 * Transitions of a refund. The contract names two statuses and no transition; the rest is the
 * family's. service-interface.md §3.3.
 */
import { REFUND_STATUSES, type RefundStatus } from '../../../src/contract/statuses.ts';
import {
  checkState,
  NEW,
  type StateCheck,
  type StateRefusals,
  type Transition,
} from './transition.ts';

export type RefundOperation = 'createRefund' | 'updateRefund';
export type RefundTrigger = 'processorResponds';

export const REFUND_TRANSITIONS = [
  {
    by: 'createRefund',
    from: [NEW],
    to: ['pending', 'review', 'succeeded', 'failed'],
    when: 'Instant goes to the processor immediately; Scheduled is pending first',
  },
  {
    by: 'updateRefund',
    from: REFUND_STATUSES,
    to: REFUND_STATUSES,
    when: 'the status does not change: only reason and metadata do',
  },
  { by: 'processorResponds', from: ['pending'], to: ['review', 'succeeded', 'failed'] },
  { by: 'processorResponds', from: ['review'], to: ['succeeded', 'failed'] },
  {
    by: 'processorResponds',
    from: ['succeeded'],
    to: ['failed'],
    when: 'the bank returns the money',
  },
] as const satisfies readonly Transition<RefundOperation | RefundTrigger, RefundStatus>[];

export const REFUND_REFUSALS = {
  createRefund: { usual: { httpStatus: 409, code: 'HE_01' } },
  updateRefund: { usual: { httpStatus: 400, code: 'IR_16' } },
} as const satisfies Record<RefundOperation, StateRefusals<RefundStatus>>;

/** Whether a refund in `status` allows `operation`; `new` means one that does not exist. */
export function checkRefund(operation: RefundOperation, status: string): StateCheck {
  return checkState(REFUND_TRANSITIONS, REFUND_REFUSALS[operation], operation, status);
}

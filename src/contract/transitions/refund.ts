/**
 * How a refund moves, and which payments can be refunded. The document names two statuses and no
 * transition; the rest is the family's. Interface document, section States, "Refund".
 */
import { type PaymentStatus, REFUND_STATUSES, type RefundStatus } from '../statuses.ts';
import { type Judgement, judge, type Move, NEW, type StateRefusals } from './moves.ts';

export type RefundOperation = 'createRefund' | 'updateRefund';
export type RefundHappening = 'processorAnswers';

export const REFUND_MOVES = [
  {
    by: 'createRefund',
    from: [NEW],
    to: ['pending', 'review', 'succeeded', 'failed'],
    when: 'Instant asks the processor at once; Scheduled is pending first',
  },
  {
    by: 'updateRefund',
    from: REFUND_STATUSES,
    to: REFUND_STATUSES,
    when: 'the status stays: only reason and metadata change',
  },
  { by: 'processorAnswers', from: ['pending'], to: ['review', 'succeeded', 'failed'] },
  { by: 'processorAnswers', from: ['review'], to: ['succeeded', 'failed'] },
  { by: 'processorAnswers', from: ['succeeded'], to: ['failed'], when: 'the bank sends it back' },
] as const satisfies readonly Move<RefundOperation | RefundHappening, RefundStatus>[];

export const REFUND_REFUSALS = {
  createRefund: { usual: { httpStatus: 409, code: 'HE_01' } },
  updateRefund: { usual: { httpStatus: 400, code: 'IR_16' } },
} as const satisfies Record<RefundOperation, StateRefusals<RefundStatus>>;

/** A payment in another status is refused with IR_14 and HTTP 400. */
export const REFUNDABLE_PAYMENT_STATUSES = [
  'succeeded',
  'partially_captured',
] as const satisfies readonly PaymentStatus[];

/** Refunds of one payment, failed ones included; one more is refused with IR_12 and HTTP 400. */
export const MAX_REFUNDS_PER_PAYMENT = 10;

/** Whether `operation` may change a refund in `status`; `new` for one that does not exist. */
export function judgeRefund(operation: RefundOperation, status: string): Judgement {
  return judge(REFUND_MOVES, REFUND_REFUSALS[operation], operation, status);
}

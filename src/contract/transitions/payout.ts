/**
 * Which operation may change a payout in which status, and what it leads to. The document names the
 * statuses and the usual way (create, update, confirm); the rest is the family's.
 * Interface document, section States, "Payout statuses".
 */
import type { PayoutStatus } from '../statuses.ts';
import { type Judgement, judge, type Move, NEW, type StateRefusals } from './moves.ts';

/** What confirming can come to. */
const CONFIRMED = [
  'requires_fulfillment',
  'requires_vendor_account_creation',
  'ineligible',
  'failed',
] as const;

/** What sending the money can come to. */
const FULFILLED = ['success', 'initiated', 'pending', 'failed'] as const;

const REQUIRES_SOMETHING = [
  'requires_creation',
  'requires_payout_method_data',
  'requires_confirmation',
  'requires_vendor_account_creation',
  'requires_fulfillment',
] as const;

export type PayoutOperation =
  | 'createPayout'
  | 'updatePayout'
  | 'confirmPayout'
  | 'fulfillPayout'
  | 'cancelPayout';
export type PayoutHappening = 'vendorAccountIsReady' | 'autoFulfills' | 'processorAnswers';

export const PAYOUT_MOVES = [
  {
    by: 'createPayout',
    from: [NEW],
    to: ['requires_payout_method_data'],
    when: 'without details and without a stored method',
  },
  { by: 'createPayout', from: [NEW], to: ['requires_confirmation'], when: 'a method is sent' },
  { by: 'createPayout', from: [NEW], to: CONFIRMED, when: 'a method is sent and confirm is true' },
  {
    by: 'updatePayout',
    from: ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
    to: ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
    when: 'it is replaced whole: with a method it requires confirmation, without one the method',
  },
  {
    by: 'confirmPayout',
    from: ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
    to: CONFIRMED,
  },
  { by: 'fulfillPayout', from: ['requires_fulfillment'], to: FULFILLED },
  {
    by: 'cancelPayout',
    from: [...REQUIRES_SOMETHING, 'initiated', 'pending'],
    to: ['cancelled'],
  },
  {
    by: 'vendorAccountIsReady',
    from: ['requires_vendor_account_creation'],
    to: ['requires_fulfillment'],
  },
  {
    by: 'autoFulfills',
    from: ['requires_fulfillment'],
    to: FULFILLED,
    when: 'auto_fulfill, after the answer that shows requires_fulfillment',
  },
  {
    by: 'processorAnswers',
    from: ['initiated', 'pending'],
    to: ['success', 'failed', 'initiated', 'pending', 'expired'],
  },
  { by: 'processorAnswers', from: ['success'], to: ['reversed'], when: 'the bank sends it back' },
] as const satisfies readonly Move<PayoutOperation | PayoutHappening, PayoutStatus>[];

const CANNOT_BE_PROCESSED = { httpStatus: 422, code: 'IR_06' } as const;

export const PAYOUT_REFUSALS = {
  createPayout: { usual: CANNOT_BE_PROCESSED },
  updatePayout: { usual: CANNOT_BE_PROCESSED },
  confirmPayout: { usual: { httpStatus: 400, code: 'IR_16' } },
  fulfillPayout: { usual: CANNOT_BE_PROCESSED },
  cancelPayout: { usual: CANNOT_BE_PROCESSED },
} as const satisfies Record<PayoutOperation, StateRefusals<PayoutStatus>>;

/** Whether `operation` may change a payout in `status`; `new` for one that does not exist. */
export function judgePayout(operation: PayoutOperation, status: string): Judgement {
  return judge(PAYOUT_MOVES, PAYOUT_REFUSALS[operation], operation, status);
}

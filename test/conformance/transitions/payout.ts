/**
 * Which operations a payout allows in each status, and the statuses they lead to. The contract names
 * the statuses and the usual flow (create, update, confirm); the rest is the family's.
 * service-interface.md §3.4.
 */
import type { PayoutStatus } from '../../../src/contract/statuses.ts';
import {
  checkState,
  NEW,
  type StateCheck,
  type StateRefusals,
  type Transition,
} from './transition.ts';

/** The possible outcomes of confirming. */
const CONFIRMED = [
  'requires_fulfillment',
  'requires_vendor_account_creation',
  'ineligible',
  'failed',
] as const;

/** The possible outcomes of sending the money. */
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
export type PayoutTrigger = 'vendorAccountIsReady' | 'autoFulfills' | 'processorResponds';

export const PAYOUT_TRANSITIONS = [
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
    when: 'the payout is replaced: with a method it requires confirmation, without one it requires the method',
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
    when: 'auto_fulfill is true, after the response that shows requires_fulfillment',
  },
  {
    by: 'processorResponds',
    from: ['initiated', 'pending'],
    to: ['success', 'failed', 'initiated', 'pending', 'expired'],
  },
  {
    by: 'processorResponds',
    from: ['success'],
    to: ['reversed'],
    when: 'the bank returns the money',
  },
] as const satisfies readonly Transition<PayoutOperation | PayoutTrigger, PayoutStatus>[];

const CANNOT_BE_PROCESSED = { httpStatus: 422, code: 'IR_06' } as const;

export const PAYOUT_REFUSALS = {
  createPayout: { usual: CANNOT_BE_PROCESSED },
  updatePayout: { usual: CANNOT_BE_PROCESSED },
  confirmPayout: { usual: { httpStatus: 400, code: 'IR_16' } },
  fulfillPayout: { usual: CANNOT_BE_PROCESSED },
  cancelPayout: { usual: CANNOT_BE_PROCESSED },
} as const satisfies Record<PayoutOperation, StateRefusals<PayoutStatus>>;

/** Whether a payout in `status` allows `operation`; `new` means one that does not exist. */
export function checkPayout(operation: PayoutOperation, status: string): StateCheck {
  return checkState(PAYOUT_TRANSITIONS, PAYOUT_REFUSALS[operation], operation, status);
}

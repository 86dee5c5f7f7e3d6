/**
 * Which operations a payment allows in each status, and the statuses they lead to.
 * service-interface.md §3.2; docs/decisions/0009-contract-where-silent.md for what it leaves open.
 */
import { CAPTURABLE_STATUSES, type PaymentStatus } from '../../../src/contract/statuses.ts';
import {
  checkState,
  NEW,
  type StateCheck,
  type StateRefusals,
  type Transition,
} from './transition.ts';

/** Waiting for the customer; the contract's own status first. */
const WAITING_FOR_CUSTOMER = [
  'requires_action',
  'requires_customer_action',
  'requires_redirection',
] as const;

/** The possible outcomes of an authorization attempt. */
const AUTHORIZED = [
  'succeeded',
  'requires_capture',
  'partially_authorized_and_requires_capture',
  'requires_action',
  'requires_merchant_action',
  'processing',
  'failed',
] as const;

export type PaymentOperation =
  | 'createPayment'
  | 'updatePayment'
  | 'confirmPayment'
  | 'capturePayment'
  | 'cancelPayment'
  | 'approvePayment'
  | 'rejectPayment';

/** What happens at the service without a request from the merchant. */
export type PaymentTrigger = 'customerActs' | 'processorResponds' | 'authorizationExpires';

export const PAYMENT_TRANSITIONS = [
  {
    by: 'createPayment',
    from: [NEW],
    to: ['requires_payment_method'],
    when: 'without confirm and without a payment method',
  },
  {
    by: 'createPayment',
    from: [NEW],
    to: ['requires_confirmation'],
    when: 'without confirm, with a payment method',
  },
  { by: 'createPayment', from: [NEW], to: AUTHORIZED, when: 'confirm is true' },
  {
    by: 'updatePayment',
    from: ['requires_payment_method', 'requires_confirmation'],
    to: ['requires_payment_method', 'requires_confirmation'],
    when: 'the status does not change',
  },
  {
    by: 'confirmPayment',
    from: ['requires_payment_method', 'requires_confirmation'],
    to: AUTHORIZED,
  },
  {
    by: 'confirmPayment',
    from: ['failed'],
    to: AUTHORIZED,
    when: 'manual_retry_allowed is true on the payment',
  },
  {
    by: 'capturePayment',
    from: CAPTURABLE_STATUSES,
    to: ['succeeded'],
    when: 'the full authorized amount is captured',
  },
  {
    by: 'capturePayment',
    from: CAPTURABLE_STATUSES,
    to: ['partially_captured'],
    when: 'a part is captured and capture_method is manual: the rest is released',
  },
  {
    by: 'capturePayment',
    from: CAPTURABLE_STATUSES,
    to: ['partially_captured_and_capturable'],
    when: 'a part is captured and capture_method is manual_multiple',
  },
  {
    by: 'cancelPayment',
    from: [
      'requires_payment_method',
      'requires_confirmation',
      ...WAITING_FOR_CUSTOMER,
      'requires_merchant_action',
      'processing',
      ...CAPTURABLE_STATUSES,
      'partially_captured_and_processing',
      'conflicted',
      'review',
    ],
    to: ['cancelled'],
    when: 'what was captured before stays captured',
  },
  {
    by: 'approvePayment',
    from: ['requires_merchant_action'],
    to: ['succeeded', 'requires_capture'],
    when: 'requires_capture where the capture is manual',
  },
  { by: 'rejectPayment', from: ['requires_merchant_action'], to: ['failed'] },
  {
    by: 'customerActs',
    from: WAITING_FOR_CUSTOMER,
    to: ['succeeded', 'requires_capture', 'requires_merchant_action', 'processing', 'failed'],
  },
  {
    by: 'processorResponds',
    from: ['processing'],
    to: AUTHORIZED,
  },
  {
    by: 'authorizationExpires',
    from: CAPTURABLE_STATUSES,
    to: ['expired'],
    when: '7 days after the authorization; what was captured before stays captured',
  },
] as const satisfies readonly Transition<PaymentOperation | PaymentTrigger, PaymentStatus>[];

const NOT_IN_THIS_STATE = { httpStatus: 400, code: 'IR_16' } as const;

/** service-interface.md §7.5. */
export const PAYMENT_REFUSALS = {
  createPayment: { usual: { httpStatus: 409, code: 'HE_01' } },
  updatePayment: { usual: NOT_IN_THIS_STATE },
  confirmPayment: { usual: NOT_IN_THIS_STATE },
  capturePayment: {
    usual: { httpStatus: 400, code: 'IR_14' },
    special: {
      from: ['succeeded', 'partially_captured', 'cancelled', 'cancelled_post_capture'],
      refusal: { httpStatus: 409, code: 'IR_14' },
    },
  },
  cancelPayment: { usual: NOT_IN_THIS_STATE },
  approvePayment: { usual: NOT_IN_THIS_STATE },
  rejectPayment: { usual: NOT_IN_THIS_STATE },
} as const satisfies Record<PaymentOperation, StateRefusals<PaymentStatus>>;

/** Whether a payment in `status` allows `operation`; `new` means one that does not exist. */
export function checkPayment(operation: PaymentOperation, status: string): StateCheck {
  return checkState(PAYMENT_TRANSITIONS, PAYMENT_REFUSALS[operation], operation, status);
}

/**
 * Which operation may change a payment in which status, and what it leads to.
 * Interface document, section States and transitions, "Payment transitions". Choices where that
 * section is silent: docs/decisions/0009-contract-where-silent.md.
 */
import { CAPTURABLE_STATUSES, type PaymentStatus } from '../statuses.ts';
import { type Judgement, judge, type Move, NEW, type StateRefusals } from './moves.ts';

/** Waiting for the customer; the document's word first. */
const WAITING_FOR_CUSTOMER = [
  'requires_action',
  'requires_customer_action',
  'requires_redirection',
] as const;

/** What an attempt to authorize can come to. */
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

/** What happens at the service without a request. */
export type PaymentHappening = 'customerActs' | 'processorAnswers' | 'authorizationExpires';

export const PAYMENT_MOVES = [
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
    when: 'the status stays',
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
    when: 'everything authorized is captured now',
  },
  {
    by: 'capturePayment',
    from: CAPTURABLE_STATUSES,
    to: ['partially_captured'],
    when: 'less, and capture_method is manual: the rest is released',
  },
  {
    by: 'capturePayment',
    from: CAPTURABLE_STATUSES,
    to: ['partially_captured_and_capturable'],
    when: 'less, and capture_method is manual_multiple',
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
    by: 'processorAnswers',
    from: ['processing'],
    to: AUTHORIZED,
  },
  {
    by: 'authorizationExpires',
    from: CAPTURABLE_STATUSES,
    to: ['expired'],
    when: '7 days after the authorization; what was captured before stays captured',
  },
] as const satisfies readonly Move<PaymentOperation | PaymentHappening, PaymentStatus>[];

const NOT_IN_THIS_STATE = { httpStatus: 400, code: 'IR_16' } as const;

/** Interface document, section Errors, "Per-endpoint errors". */
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

/** Whether `operation` may change a payment in `status`; `new` for one that does not exist. */
export function judgePayment(operation: PaymentOperation, status: string): Judgement {
  return judge(PAYMENT_MOVES, PAYMENT_REFUSALS[operation], operation, status);
}

import { describe, expect, it } from 'vitest';
import {
  COMMON_ERRORS,
  DISPUTE_STAGES,
  DISPUTE_STATUSES,
  ENDPOINTS,
  type Endpoint,
  PAYMENT_STATUSES,
  PAYOUT_STATUSES,
} from '../../../src/contract/index.ts';
import { isReachable } from '../../../src/ledger/domain/transitions.ts';
import {
  checkDispute,
  checkPayment,
  checkPayout,
  checkRefund,
  DISPUTE_TRANSITIONS,
  NEW,
  PAYMENT_REFUSALS,
  PAYMENT_TRANSITIONS,
  PAYOUT_REFUSALS,
  PAYOUT_TRANSITIONS,
  type PaymentOperation,
  type PayoutOperation,
  REFUND_REFUSALS,
  REFUND_TRANSITIONS,
} from '../../conformance/transitions/index.ts';

const startsOf = (operation: PaymentOperation) =>
  PAYMENT_STATUSES.filter((status) => checkPayment(operation, status).allowed);

describe('payments', () => {
  it('are captured only while an authorized amount remains', () => {
    expect(startsOf('capturePayment')).toEqual([
      'requires_capture',
      'partially_authorized_and_requires_capture',
      'partially_captured_and_capturable',
    ]);
  });

  it.each([
    ['succeeded', 409],
    ['cancelled', 409],
    ['requires_confirmation', 400],
    ['failed', 400],
    ['expired', 400],
    ['a word of next year', 400],
  ])('refuse a capture when %s with HTTP %i', (status, httpStatus) => {
    expect(checkPayment('capturePayment', status)).toMatchObject({
      allowed: false,
      refusal: { httpStatus },
    });
  });

  it('are cancelled in any state that is not fully captured and not final', () => {
    for (const final of ['succeeded', 'partially_captured', 'cancelled', 'failed', 'expired']) {
      expect(checkPayment('cancelPayment', final)).toMatchObject({
        allowed: false,
        refusal: { httpStatus: 400 },
      });
    }
    expect(startsOf('cancelPayment')).toContain('partially_captured_and_capturable');
  });

  it('are approved and rejected only while held for manual review', () => {
    expect(startsOf('approvePayment')).toEqual(['requires_merchant_action']);
    expect(startsOf('rejectPayment')).toEqual(['requires_merchant_action']);
  });

  it('can be confirmed again after a failure, never after success', () => {
    expect(startsOf('confirmPayment')).toEqual([
      'requires_payment_method',
      'requires_confirmation',
      'failed',
    ]);
  });
});

describe('disputes, refunds and payouts', () => {
  it('a dispute is accepted while it is open or challenged, up to arbitration', () => {
    const accepted = DISPUTE_STAGES.flatMap((stage) =>
      DISPUTE_STATUSES.filter((status) => checkDispute('acceptDispute', status, stage).allowed),
    );
    expect(accepted).toHaveLength(4 * 2);
    expect(checkDispute('acceptDispute', 'opened', 'dispute_reversal').allowed).toBe(false);
  });

  it('a refund can be described in every status', () => {
    expect(checkRefund('updateRefund', 'failed').allowed).toBe(true);
    expect(checkRefund('createRefund', 'pending')).toMatchObject({ refusal: { code: 'HE_01' } });
  });

  it.each([
    ['fulfillPayout', ['requires_fulfillment']],
    [
      'confirmPayout',
      ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
    ],
  ] as const)('%s starts only from %j', (operation, starts) => {
    expect(PAYOUT_STATUSES.filter((s) => checkPayout(operation, s).allowed)).toEqual(starts);
  });

  it.each(['success', 'failed', 'cancelled', 'expired', 'reversed', 'ineligible'])(
    'a payout that is %s cannot be cancelled: 422',
    (status) => {
      expect(checkPayout('cancelPayout', status)).toMatchObject({ refusal: { httpStatus: 422 } });
    },
  );
});

describe('the tables agree', () => {
  /** The ledger checks histories with its own table: a documented transition that it rejects is a mistake. */
  it.each([
    ['payment', PAYMENT_TRANSITIONS],
    ['refund', REFUND_TRANSITIONS],
    ['payout', PAYOUT_TRANSITIONS],
    ['dispute', DISPUTE_TRANSITIONS.filter(({ by }) => by !== 'stageChanges')],
  ] as const)('every move of a %s is one that the ledger takes for legal', (kind, moves) => {
    const illegal = moves.flatMap(({ by, from, to }) =>
      (from as readonly string[])
        .filter((start) => start !== NEW)
        .flatMap((start) =>
          // A row with several of both means some of their pairs.
          (to as readonly string[]).some((end) => isReachable(kind, start, end))
            ? []
            : [`${by}: ${start}`],
        ),
    );
    expect(illegal).toEqual([]);
  });

  const refusals: Record<string, { usual: { httpStatus: number; code: string } }> = {
    ...PAYMENT_REFUSALS,
    ...REFUND_REFUSALS,
    ...PAYOUT_REFUSALS,
  };
  it.each(
    Object.keys(refusals).filter((name) => name !== 'createPayout' && name !== 'updateRefund'),
  )('the endpoint %s names the refusal of its state', (name) => {
    const endpoint: Endpoint = ENDPOINTS[name as PaymentOperation | PayoutOperation];
    const named = [...COMMON_ERRORS, ...endpoint.errors].map(({ status, code }) => ({
      httpStatus: status,
      code,
    }));
    expect(named).toContainEqual(refusals[name]?.usual);
  });
});

/** Amounts, refunds and captures of a person. */
import type { Mistake } from '../mistake.ts';

export const MONEY: readonly Mistake[] = [
  {
    guarantee: 'A decimal with more digits than its currency has is refused.',
    file: 'src/contract/money.ts',
    code: 'if (!match || fraction.length > exponent) return undefined;',
    mistaken: 'if (!match) return undefined;',
    test: 'test/unit/contract/money.test.ts',
  },
  {
    guarantee: 'A pending refund cannot be refunded once more.',
    file: 'src/refunds/domain/refundable.ts',
    code: "return status !== 'failed';",
    mistaken: "return status === 'succeeded';",
    test: 'test/unit/refunds/refundable.test.ts',
  },
  {
    guarantee: 'A dispute in another currency is not subtracted from what can be refunded.',
    file: 'src/refunds/domain/refundable.ts',
    code: ' || part.currency !== currency',
    mistaken: '',
    test: 'test/unit/refunds/refundable.test.ts',
    named: 'in another currency',
  },
  {
    guarantee: 'A person learns of a lost dispute before a refund.',
    file: 'src/refunds/domain/refundable.ts',
    code: "return kind === 'dispute' && status !== 'won' && status !== 'cancelled';",
    mistaken: "return kind === 'dispute' && (status === 'opened' || status === 'challenged');",
    test: 'test/unit/refunds/refundable.test.ts',
    named: 'is open or lost',
  },
  {
    guarantee: 'A part that two people capture at the same time is captured once.',
    file: 'src/actions/captureOrCancel.ts',
    code: "if (!isSameHold(now, hold)) return { outcome: 'changed', now };",
    mistaken: "if (now.outcome === 'not_held') return { outcome: 'changed', now };",
    test: 'test/audit/money.test.ts',
    named: 'sends nothing if the hold changed',
  },
  {
    guarantee: 'A hold is not captured while a cancellation of it has no result.',
    file: 'src/actions/captureOrCancel.ts',
    code: "const EXCLUSIVE = ['authorization.cancel', 'authorization.capture'] as const;",
    mistaken: "const EXCLUSIVE = ['authorization.capture'] as const;",
    test: 'test/audit/money.test.ts',
    named: 'waits until a capture or cancellation',
  },
  {
    guarantee:
      'A refund that was carried out and not recorded is not reported as one that is safe to repeat.',
    file: 'src/audit/recordAudit.ts',
    code: 'throw new AttemptInterrupted(attempt, intent.subject, error);',
    mistaken: 'throw error;',
    test: 'test/audit/money.test.ts',
    named: 'that was carried out has an unknown outcome',
  },
  {
    guarantee:
      'A capture that lost its response is not done because somebody else released the hold.',
    file: 'src/authorizations/captureOrCancel.ts',
    code: 'takenMinor >= (amountMinor ?? before.capturableMinor)',
    mistaken: 'takenMinor >= 0',
    test: 'test/audit/lostResponses.test.ts',
    named: 'is unknown where it should have captured',
  },
  {
    guarantee: 'No refund of another amount is sent while an earlier one may still arrive.',
    file: 'src/actions/refundPayment.ts',
    code: "  if (until) return { outcome: 'uncertain', until };",
    mistaken: '',
    test: 'test/audit/lostResponses.test.ts',
    named: 'is not joined by a refund of another amount',
  },
  {
    guarantee: 'No part is captured while an earlier capture may still arrive.',
    file: 'src/actions/captureOrCancel.ts',
    code: "  if (until) return { outcome: 'uncertain', until };",
    mistaken: '',
    test: 'test/audit/lostResponses.test.ts',
    named: 'is not joined by one of',
  },
  {
    guarantee: 'A payout is not paid twice where a list leaves out references.',
    file: 'src/payouts/payoutService.ts',
    code: '  if (stated !== undefined) return stated;\n  return (await payouts.retrieve(id, {}, LANE)).merchant_order_reference_id;',
    mistaken: '  return stated ?? null;',
    test: 'test/audit/lostResponses.test.ts',
    named: 'leaves out the references',
  },
];

/** The rules of disputes (src/sandbox/domain/dispute.ts); the numbers are those of its invariants. */
import { describe, expect, test } from 'vitest';
import {
  DISPUTE_STAGES,
  DISPUTE_STATUSES,
  type DisputeStage,
  type DisputeStatus,
} from '../../../src/contract/index.ts';
import {
  acceptDispute,
  changeEvidence,
  type DisputeState,
  groupEvidence,
  moveDispute,
  openDispute,
  runDisputeDue,
} from '../../../src/sandbox/domain/dispute.ts';
import type { PaymentState } from '../../../src/sandbox/domain/payment.ts';

const NOW = Date.UTC(2026, 10, 21);
const payment = {
  payment_id: 'pay_1',
  amount_received: 6540,
  currency: 'USD',
  attempt_count: 1,
  profile_id: 'pro_1',
} as PaymentState;

function stateOf(decision: { readonly value?: DisputeState | undefined }): DisputeState {
  if (decision.value === undefined) throw new Error('the step was rejected');
  return decision.value;
}

function open(stage: DisputeStage = 'dispute'): DisputeState {
  return stateOf(
    openDispute(payment, { stage }, { disputeId: 'dp_1', nowMs: NOW, refundedMinor: 0 }),
  );
}

function disputeIn(stage: DisputeStage, status: DisputeStatus): DisputeState {
  return stateOf(moveDispute(open(stage), { status }, NOW));
}

// Rule 1.
describe('within a stage', () => {
  const ENDS = ['expired', 'accepted', 'cancelled', 'lost', 'won'];
  const allowed: Readonly<Record<DisputeStatus, readonly string[]>> = {
    opened: ['opened', 'challenged', ...ENDS],
    challenged: ['challenged', ...ENDS],
    expired: ['expired'],
    accepted: ['accepted'],
    cancelled: ['cancelled'],
    lost: ['lost'],
    won: ['won'],
  };

  test.each(DISPUTE_STATUSES)('a dispute that is %s moves to what the rules allow', (from) => {
    for (const stage of DISPUTE_STAGES) {
      const reached = DISPUTE_STATUSES.filter(
        (status) => moveDispute(disputeIn(stage, from), { status }, NOW + 1).value !== undefined,
      );
      expect(reached.toSorted(), stage).toEqual([...allowed[from]].toSorted());
    }
  });

  test('a challenged dispute keeps its deadline, and does not expire', () => {
    const challenged = disputeIn('dispute', 'challenged');
    expect(challenged.challenge_required_by).toBe(open().challenge_required_by);
    expect(runDisputeDue(challenged, NOW + 99 * 24 * 3600_000).status).toBe('challenged');
  });
});

// Rule 2.
test('a stage is followed by later stages only, for every status, and brings a new deadline', () => {
  const later: Readonly<Record<DisputeStage, readonly DisputeStage[]>> = {
    pre_dispute: ['dispute', 'pre_arbitration', 'arbitration', 'dispute_reversal'],
    dispute: ['pre_arbitration', 'arbitration', 'dispute_reversal'],
    pre_arbitration: ['arbitration', 'dispute_reversal'],
    arbitration: ['dispute_reversal'],
    dispute_reversal: [],
  };
  for (const from of DISPUTE_STAGES) {
    for (const status of DISPUTE_STATUSES) {
      const reached = DISPUTE_STAGES.filter((stage) => {
        if (stage === from) return false;
        const { value: state } = moveDispute(disputeIn(from, status), { stage }, NOW + 60_000);
        if (state !== undefined) {
          expect(Date.parse(state.challenge_required_by)).toBeGreaterThan(
            Date.parse(open().challenge_required_by),
          );
        }
        return state !== undefined;
      });
      expect(reached.toSorted(), `${from}/${status}`).toEqual([...later[from]].toSorted());
    }
  }
});

// Rule 3.
describe('evidence', () => {
  const fields = { uncategorized_text: 'delivered and signed for' };
  const deadlineMs = Date.parse(open().challenge_required_by);

  test('is accepted until the deadline, not at it or after it', () => {
    expect(changeEvidence(open(), fields, deadlineMs - 1).value?.status).toBe('challenged');
    for (const nowMs of [deadlineMs, deadlineMs + 1]) {
      expect(changeEvidence(open(), fields, nowMs).rejection).toMatchObject({ code: 'HE_03' });
    }
  });

  test('is accepted while a dispute is open or challenged, and not in its last stage', () => {
    for (const stage of DISPUTE_STAGES) {
      for (const status of DISPUTE_STATUSES) {
        const { rejection } = changeEvidence(disputeIn(stage, status), fields, NOW + 1);
        const isAccepted =
          (status === 'opened' || status === 'challenged') && stage !== 'dispute_reversal';
        expect(rejection === undefined, `${stage}/${status}`).toBe(isAccepted);
      }
    }
  });

  test('that is empty has no effect: the dispute still expires', () => {
    const state = stateOf(changeEvidence(open(), { uncategorized_text: '' }, NOW + 1));
    expect(state.status).toBe('opened');
    expect(groupEvidence(state)).toEqual({});
    expect(runDisputeDue(state, deadlineMs).status).toBe('expired');
  });

  test('stays when the dispute moves', () => {
    const challenged = stateOf(changeEvidence(open(), fields, NOW + 1));
    const moved = stateOf(moveDispute(challenged, { stage: 'arbitration' }, NOW + 2));
    expect(groupEvidence(moved)).toEqual(groupEvidence(challenged));
    expect(groupEvidence(moved)).not.toEqual({});
  });
});

test('a dispute without a response expires at its deadline; an accepted one does not', () => {
  const deadlineMs = Date.parse(open().challenge_required_by);
  expect(runDisputeDue(open(), deadlineMs).status).toBe('expired');
  const accepted = stateOf(acceptDispute(open(), NOW + 1));
  expect(runDisputeDue(accepted, deadlineMs).status).toBe('accepted');
});

test('a dispute never exceeds what the payment received, and is about all of it by default', () => {
  const created = { disputeId: 'dp_1', nowMs: NOW, refundedMinor: 0 };
  expect(Number(open().amount)).toBe(6540);
  expect(openDispute(payment, { amount: 6540 }, created).rejection).toBeUndefined();
  for (const amount of [0, -1, 6541]) {
    expect(openDispute(payment, { amount }, created).rejection).toBeDefined();
  }
});

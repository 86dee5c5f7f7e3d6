/** Tests cite the rules at the head of src/ledger/domain/ranks.ts as R1, R2 … */
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import {
  DISPUTE_STAGES,
  DISPUTE_STATUSES,
  FINAL_STATUSES,
  PAYMENT_STATUSES,
  PAYOUT_STATUSES,
  REFUND_STATUSES,
} from '../../../src/contract/statuses.ts';
import { stageRank, statusRank } from '../../../src/ledger/domain/ranks.ts';

const STATUSES: Readonly<Record<ResourceKind, readonly string[]>> = {
  payment: PAYMENT_STATUSES,
  refund: REFUND_STATUSES,
  dispute: DISPUTE_STATUSES,
  payout: PAYOUT_STATUSES,
};
const KINDS = Object.keys(STATUSES) as readonly ResourceKind[];

describe.each(KINDS)('the ranks of a %s', (kind) => {
  const finals = STATUSES[kind].filter((status) => FINAL_STATUSES[kind].has(status));
  const others = STATUSES[kind].filter((status) => !FINAL_STATUSES[kind].has(status));

  test('R1, R3: every status has one, above that of an unknown and of a missing status', () => {
    for (const status of STATUSES[kind]) {
      expect(statusRank(kind, status), status).toBeGreaterThan(statusRank(kind, 'teleported'));
      expect(statusRank(kind, status), status).toBeGreaterThan(statusRank(kind, undefined));
      // Property names of every object are not statuses.
      expect(statusRank(kind, 'constructor')).toBe(statusRank(kind, 'teleported'));
    }
  });

  test('R2: a final status ranks above every other', () => {
    for (const final of finals) {
      for (const other of others) {
        expect(statusRank(kind, final), `${final}, ${other}`).toBeGreaterThan(
          statusRank(kind, other),
        );
      }
    }
  });
});

test.each<[ResourceKind, string, string]>([
  ['payment', 'succeeded', 'failed'],
  ['payment', 'partially_captured', 'failed'],
  ['payment', 'succeeded', 'partially_captured'],
  ['payment', 'cancelled_post_capture', 'succeeded'],
  ['refund', 'failed', 'succeeded'],
  ['dispute', 'won', 'lost'],
  ['dispute', 'lost', 'accepted'],
  ['dispute', 'lost', 'expired'],
  ['payout', 'failed', 'success'],
  ['payout', 'reversed', 'success'],
  ['payout', 'reversed', 'failed'],
])('R4: of final statuses the correction ranks higher: %s %s above %s', (kind, above, below) => {
  expect(statusRank(kind, above)).toBeGreaterThan(statusRank(kind, below));
});

test('stages rank in their order, and one that is missing or unknown counts as `dispute`', () => {
  const ranks = DISPUTE_STAGES.map((stage) => stageRank('dispute', stage));
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  expect(new Set(ranks).size).toBe(ranks.length);
  expect(stageRank('dispute', undefined)).toBe(stageRank('dispute', 'dispute'));
  expect(stageRank('dispute', 'appeal')).toBe(stageRank('dispute', 'dispute'));
  expect(stageRank('payment', 'arbitration')).toBe(stageRank('payment', undefined));
});

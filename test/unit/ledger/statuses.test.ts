import { describe, expect, test } from 'vitest';
import { RESOURCE_KINDS } from '../../../src/contract/resources/index.ts';
import { FINAL_STATUSES, normalizeStatus, STATUSES } from '../../../src/contract/statuses.ts';
import { statusRank } from '../../../src/ledger/domain/ranks.ts';
import { isReachable } from '../../../src/ledger/domain/transitions.ts';

describe.each(RESOURCE_KINDS)('%s', (kind) => {
  const statuses: readonly string[] = STATUSES[kind];
  const isFinal = (status: string) => FINAL_STATUSES[kind].has(status);

  test('every status has a rank above an unknown one', () => {
    for (const status of statuses) {
      expect(statusRank(kind, status)).toBeGreaterThan(statusRank(kind, 'teleported'));
    }
  });

  test('a status that is not final never ranks above a final one', () => {
    const open = statuses
      .filter((status) => !isFinal(status))
      .map((status) => statusRank(kind, status));
    const final = statuses.filter(isFinal).map((status) => statusRank(kind, status));
    expect(Math.max(...open)).toBeLessThan(Math.min(...final));
  });

  test('from every status that is not final, a final one can be reached', () => {
    for (const status of statuses.filter((candidate) => !isFinal(candidate))) {
      expect(statuses.filter((end) => isFinal(end) && isReachable(kind, status, end))).not.toEqual(
        [],
      );
    }
  });
});

test.each([
  ['payment', 'succeeded', 'processing', false],
  ['payment', 'cancelled', 'succeeded', false],
  ['payment', 'succeeded', 'cancelled_post_capture', true],
  ['payment', 'failed', 'requires_capture', true],
  ['refund', 'succeeded', 'failed', true],
  ['refund', 'failed', 'succeeded', false],
  ['dispute', 'won', 'lost', false],
  ['payout', 'success', 'reversed', true],
  ['payout', 'failed', 'success', false],
] as const)('%s: %s to %s can be reached: %s', (kind, from, to, reachable) => {
  expect(isReachable(kind, from, to)).toBe(reachable);
});

test('statuses of older versions of the service are translated', () => {
  expect(normalizeStatus('refund', 'failure')).toBe('failed');
  expect(normalizeStatus('refund', 'manual_review')).toBe('review');
  expect(normalizeStatus('dispute', 'dispute_opened')).toBe('opened');
});

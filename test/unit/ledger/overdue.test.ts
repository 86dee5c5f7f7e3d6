import { describe, expect, test } from 'vitest';
import { FINAL_STATUSES } from '../../../src/contract/statuses.ts';
import { staysOverdue, TERMS, termOf } from '../../../src/ledger/domain/overdue.ts';

describe('a term', () => {
  test.each([
    ['refund', 'pending', 14],
    ['refund', 'review', 14],
    ['dispute', 'opened', 120],
    ['dispute', 'challenged', 120],
    ['payout', 'initiated', 7],
    ['payout', 'pending', 7],
    ['payment', 'processing', 7],
    ['payment', 'partially_captured_and_processing', 7],
    ['payment', 'requires_merchant_action', 3],
    ['payment', 'review', 3],
    ['payment', 'conflicted', 3],
  ] as const)('of a %s that is %s is %i days', (kind, status, days) => {
    expect(termOf(kind, { status })?.days).toBe(days);
  });

  test.each([
    ['payment', 'requires_customer_action'],
    ['payment', 'requires_payment_method'],
    // It has a deadline of its own.
    ['payment', 'requires_capture'],
    ['payment', 'succeeded'],
    ['refund', 'succeeded'],
    ['dispute', 'lost'],
    ['payout', 'success'],
  ] as const)('has no %s that is %s', (kind, status) => {
    expect(termOf(kind, { status })).toBeUndefined();
  });

  test('exists only for statuses that are not final: overdue resources are found by their next check', () => {
    const timed = TERMS.flatMap(({ kind, statuses }) =>
      statuses.map((status) => ({ kind, status })),
    );
    expect(timed.filter(({ kind, status }) => FINAL_STATUSES[kind].has(status))).toEqual([]);
    expect(timed).toHaveLength(11);
  });

  test('does not exist for an inquiry by the bank, which withholds no money', () => {
    expect(termOf('dispute', { status: 'opened', stage: 'dispute' })?.days).toBe(120);
    expect(termOf('dispute', { status: 'opened', stage: 'pre_dispute' })).toBeUndefined();
  });
});

describe('an overdue mark', () => {
  const processing = { kind: 'payment', status: 'processing', openFindings: ['overdue'] } as const;

  test('stays while the same term applies', () => {
    expect(staysOverdue(processing, { status: 'processing', posts: true })).toBe(true);
    const pending = { kind: 'refund', status: 'pending', openFindings: ['overdue'] } as const;
    expect(staysOverdue(pending, { status: 'review', posts: true })).toBe(true);
  });

  test('is removed under another term, without a term, or if nothing is posted', () => {
    expect(staysOverdue(processing, { status: 'review', posts: true })).toBe(false);
    expect(staysOverdue(processing, { status: 'succeeded', posts: true })).toBe(false);
    expect(staysOverdue(processing, { status: 'processing', posts: false })).toBe(false);
  });

  test('is never set here, only kept or removed', () => {
    const fresh = { ...processing, openFindings: [] };
    expect(staysOverdue(fresh, { status: 'processing', posts: true })).toBe(false);
  });
});

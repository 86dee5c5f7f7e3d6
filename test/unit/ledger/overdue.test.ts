import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import { FINAL_STATUSES } from '../../../src/contract/statuses.ts';
import { foldSnapshots } from '../../../src/ledger/domain/merge.ts';
import { staysOverdue, TERMS, termOf } from '../../../src/ledger/domain/overdue.ts';
import type { SnapshotContent } from '../../../src/ledger/domain/snapshot.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { observe, T0 } from '../../support/observations.ts';

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

describe('the beginning of a term', () => {
  const at = (day: number) => T0 + day * DAY_MS * 1000;
  const on = (day: number, status: string) => ({ status, versionMicros: at(day) });
  const created = { createdMicros: at(0) };

  function beganOn(
    kind: ResourceKind,
    observations: readonly (SnapshotContent & { readonly observedOn?: number })[],
  ): number | undefined {
    const snapshots = observations.map(({ observedOn = 99, ...content }) => ({
      ...observe(content, { kind, observedMicros: at(observedOn) }),
      epoch: 0,
    }));
    const state = foldSnapshots(snapshots);
    expect(foldSnapshots(snapshots.toReversed()).termSinceMicros).toBe(state.termSinceMicros);
    const { termSinceMicros } = state;
    return termSinceMicros && (termSinceMicros - T0) / (DAY_MS * 1000);
  }

  test.each<[string, ResourceKind, Parameters<typeof beganOn>[1], number | undefined]>([
    ['of a status without one', 'payment', [on(1, 'processing'), on(2, 'succeeded')], undefined],
    [
      'is the creation where all bodies have it',
      'payout',
      [{ ...on(3, 'initiated'), ...created }, on(4, 'pending')],
      0,
    ],
    [
      'is the first body where none states the creation',
      'payout',
      [on(3, 'initiated'), on(4, 'pending')],
      3,
    ],
    [
      'is the observation of a first body without a version',
      'payout',
      [{ status: 'initiated', observedOn: 2 }],
      2,
    ],
    [
      'is the first body after another status',
      'payout',
      [{ ...on(1, 'requires_fulfillment'), ...created }, on(10, 'initiated'), on(12, 'pending')],
      10,
    ],
    [
      'is another one after another term',
      'payment',
      [{ ...on(1, 'processing'), ...created }, on(3, 'review')],
      3,
    ],
    [
      'is another one after it was interrupted',
      'payment',
      [
        { ...on(1, 'processing'), ...created },
        on(2, 'requires_customer_action'),
        on(5, 'processing'),
        on(6, 'processing'),
      ],
      5,
    ],
    [
      'is the last one after it was interrupted twice',
      'payout',
      [
        on(1, 'requires_fulfillment'),
        on(2, 'initiated'),
        on(3, 'requires_fulfillment'),
        on(4, 'initiated'),
      ],
      4,
    ],
    [
      'follows the order of the bodies, not their times',
      'payout',
      [
        { status: 'requires_fulfillment', observedOn: 8, ...created },
        { status: 'initiated', observedOn: 7 },
      ],
      7,
    ],
    [
      'is not moved by a body without a status',
      'payout',
      [
        on(2, 'requires_fulfillment'),
        on(4, 'initiated'),
        { versionMicros: at(5) },
        on(6, 'pending'),
      ],
      4,
    ],
    [
      'is the last body with a status where one without states the stage',
      'dispute',
      [
        { ...on(1, 'opened'), stage: 'pre_dispute', ...created },
        { versionMicros: at(2), stage: 'dispute' },
      ],
      1,
    ],
  ])('%s', (_what, kind, contents, day) => {
    expect(beganOn(kind, contents)).toBe(day);
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

import { describe, expect, test } from 'vitest';
import { changesOf, type TouchedResource } from '../../../src/ledger/domain/changes.ts';

const touched = (fields: Partial<TouchedResource>): TouchedResource => ({
  kind: 'payment',
  id: 'pay_1',
  previousStatus: 'processing',
  status: 'succeeded',
  from: 'order:ord_1',
  to: 'order:ord_1',
  isLearned: true,
  isHistory: false,
  webhookEventId: undefined,
  ...fields,
});
const statuses = (before: Record<string, string>, after: Record<string, string>) => ({
  before: new Map(Object.entries(before)),
  after: new Map(Object.entries(after)),
});

describe('an order', () => {
  test('changes its status, or its details when that stays', () => {
    const paid = statuses({ 'order:ord_1': 'pending' }, { 'order:ord_1': 'paid' });
    expect(changesOf([touched({})], paid)).toMatchObject([
      { kind: 'order', subject: 'order:ord_1', change: 'status', status: 'paid' },
    ]);
    const still = statuses({ 'order:ord_1': 'paid' }, { 'order:ord_1': 'paid' });
    expect(changesOf([touched({})], still)).toMatchObject([{ change: 'details', status: 'paid' }]);
  });

  test('does not change without new content', () => {
    const still = statuses({ 'order:ord_1': 'paid' }, { 'order:ord_1': 'paid' });
    expect(changesOf([touched({ isLearned: false })], still)).toEqual([]);
  });

  test('changes with its status even without new content: a new version may derive another one', () => {
    const other = statuses({ 'order:ord_1': 'paid' }, { 'order:ord_1': 'disputed' });
    expect(changesOf([touched({ isLearned: false })], other)).toMatchObject([{ change: 'status' }]);
  });

  test('has one change for any number of changed parts, with the last of their events', () => {
    const all = [3, 7, undefined, 5].map((webhookEventId, place) =>
      touched({ id: `pay_${place}`, webhookEventId, isLearned: place === 1 }),
    );
    const still = statuses({ 'order:ord_1': 'paid' }, { 'order:ord_1': 'paid' });
    expect(changesOf(all, still)).toMatchObject([{ change: 'details', webhookEventId: 7 }]);
  });

  test('is imported history only if everything that changed it is', () => {
    const paid = statuses({ 'order:ord_1': 'pending' }, { 'order:ord_1': 'paid' });
    const old = touched({ isHistory: true });
    expect(changesOf([old, old], paid)).toMatchObject([{ isHistory: true }]);
    expect(changesOf([old, touched({})], paid)).toMatchObject([{ isHistory: false }]);
  });

  test('has a change on both sides of a move, whether or not a status differs', () => {
    const still = statuses({ a: 'paid', b: 'paid' }, { a: 'paid', b: 'paid' });
    const moved = changesOf([touched({ from: 'a', to: 'b', isLearned: false })], still);
    expect(moved.map(({ subject, change }) => [subject, change])).toEqual([
      ['a', 'details'],
      ['b', 'details'],
    ]);
  });
});

test('a resource without an order has changes of its own', () => {
  const none = statuses({}, {});
  const payout = touched({ kind: 'payout', id: 'po_1', from: null, to: null, webhookEventId: 4 });
  expect(changesOf([payout], none)).toEqual([
    {
      kind: 'payout',
      subject: 'po_1',
      change: 'status',
      status: 'succeeded',
      previousStatus: 'processing',
      webhookEventId: 4,
      isHistory: false,
    },
  ]);
});

import { expect, test } from 'vitest';
import { type OrderChange, planNotices } from '../../../src/notify/domain/orderWebhooks.ts';

const AT = new Date('2026-11-20T10:00:00.000Z');

function change(number: number, fields: Partial<OrderChange> = {}): OrderChange {
  return {
    number,
    orderKey: 'order:a',
    change: 'status',
    status: 'paid',
    previousStatus: 'pending',
    changedAt: AT,
    isHistory: false,
    ...fields,
  };
}

/** The one order as it stands after a change. */
const after = (lastChange: number | undefined) =>
  new Map([
    ['order:a', { orderId: 'a', money: '{"captured":2}', body: { order_id: 'a' }, lastChange }],
  ]);

const typesOf = (changes: readonly OrderChange[], told: readonly (readonly [string, string])[]) =>
  planNotices(changes, after(changes.at(-1)?.number), new Map(told)).notices.map(
    ({ type }) => type,
  );

test('rule 1: a change of status is told by the status it changed to', () => {
  const told = [['order:a', '{"captured":2}']] as const;
  expect(typesOf([change(1), change(2, { status: 'disputed' })], told)).toEqual([
    'order.paid',
    'order.disputed',
  ]);
});

test.each([
  ['money that is as it was told', [['order:a', '{"captured":2}']], []],
  ['money that differs from what was told', [['order:a', '{"captured":1}']], ['order.updated']],
  ['an order of which nothing was told', [], ['order.updated']],
] as const)('rule 2: details with %s', (_what, told, types) => {
  expect(typesOf([change(1, { change: 'details' })], told)).toEqual(types);
});

test('rule 2: what the same page told is not told again', () => {
  expect(typesOf([change(1), change(2, { change: 'details' })], [])).toEqual(['order.paid']);
});

test('an order that was only registered, or is not known, is not told', () => {
  expect(typesOf([change(1, { change: 'registered', status: null })], [])).toEqual([]);
  expect(typesOf([change(1, { orderKey: 'order:unknown' })], [])).toEqual([]);
});

const imported = change(1, { isHistory: true });

test('rule 3: what was imported is no notice, and its money counts as told', () => {
  const { notices, told } = planNotices([imported], after(1), new Map());
  expect(notices).toEqual([]);
  expect([...told]).toEqual([['order:a', { changeNumber: 1, money: '{"captured":2}' }]]);
  expect(typesOf([change(2, { change: 'details' })], [['order:a', '{"captured":2}']])).toEqual([]);
});

test.each([
  ['on the same page', [change(2, { change: 'details' })], 2, ['order.updated']],
  ['on the same page, to another status', [change(2)], 2, ['order.paid']],
  ['beyond the page', [], 2, []],
  ['without a number yet', [], undefined, []],
] as const)(
  'rule 3: what was imported hides no change that came after it %s',
  (_where, later, lastChange, types) => {
    const { notices, told } = planNotices([imported, ...later], after(lastChange), new Map());
    expect(notices.map(({ type }) => type)).toEqual(types);
    expect(told.get('order:a')?.changeNumber).toEqual(later[0]?.number);
  },
);

test('what is noted as told is the money that was told', () => {
  const { told, notices } = planNotices([change(4), change(9)], after(9), new Map());
  expect([...told]).toEqual([['order:a', { changeNumber: 9, money: '{"captured":2}' }]]);
  expect(notices[0]).toEqual({
    orderKey: 'order:a',
    changeNumber: 4,
    type: 'order.paid',
    orderId: 'a',
    at: AT.toISOString(),
    data: {
      change: {
        number: 4,
        status: 'paid',
        previous_status: 'pending',
        changed_at: AT.toISOString(),
      },
      order: { order_id: 'a' },
    },
  });
});

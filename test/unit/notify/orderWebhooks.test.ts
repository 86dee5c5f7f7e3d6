import { expect, test } from 'vitest';
import { type OrderChange, planOrderWebhooks } from '../../../src/notify/domain/orderWebhooks.ts';

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

/** The current order after a change. */
const after = (lastChange: number | undefined) =>
  new Map([
    ['order:a', { orderId: 'a', totals: '{"captured":2}', json: { order_id: 'a' }, lastChange }],
  ]);

const typesOf = (changes: readonly OrderChange[], sent: readonly (readonly [string, string])[]) =>
  planOrderWebhooks(changes, after(changes.at(-1)?.number), new Map(sent)).webhooks.map(
    ({ type }) => type,
  );

test('rule 1: a change of status sends a webhook named after the new status', () => {
  const sent = [['order:a', '{"captured":2}']] as const;
  expect(typesOf([change(1), change(2, { status: 'disputed' })], sent)).toEqual([
    'order.paid',
    'order.disputed',
  ]);
});

test.each([
  ['totals equal to the last webhook', [['order:a', '{"captured":2}']], []],
  ['totals that differ from the last webhook', [['order:a', '{"captured":1}']], ['order.updated']],
  ['an order without a webhook yet', [], ['order.updated']],
] as const)('rule 2: details with %s', (_what, sent, types) => {
  expect(typesOf([change(1, { change: 'details' })], sent)).toEqual(types);
});

test('rule 2: totals sent for an earlier change of the same page are not sent again', () => {
  expect(typesOf([change(1), change(2, { change: 'details' })], [])).toEqual(['order.paid']);
});

test('an order that is only registered or unknown sends nothing', () => {
  expect(typesOf([change(1, { change: 'registered', status: null })], [])).toEqual([]);
  expect(typesOf([change(1, { orderKey: 'order:unknown' })], [])).toEqual([]);
});

const imported = change(1, { isHistory: true });

test('rule 3: imported history sends nothing, and its totals count as sent', () => {
  const { webhooks, sentTotals } = planOrderWebhooks([imported], after(1), new Map());
  expect(webhooks).toEqual([]);
  expect([...sentTotals]).toEqual([['order:a', { changeNumber: 1, totals: '{"captured":2}' }]]);
  expect(typesOf([change(2, { change: 'details' })], [['order:a', '{"captured":2}']])).toEqual([]);
});

test.each([
  ['on the same page', [change(2, { change: 'details' })], 2, ['order.updated']],
  ['on the same page, to another status', [change(2)], 2, ['order.paid']],
  ['beyond the page', [], 2, []],
  ['without a number yet', [], undefined, []],
] as const)(
  'rule 3: imported history hides no later change %s',
  (_where, later, lastChange, types) => {
    const { webhooks, sentTotals } = planOrderWebhooks(
      [imported, ...later],
      after(lastChange),
      new Map(),
    );
    expect(webhooks.map(({ type }) => type)).toEqual(types);
    expect(sentTotals.get('order:a')?.changeNumber).toEqual(later[0]?.number);
  },
);

test('the totals that were sent are recorded with their change', () => {
  const { sentTotals, webhooks } = planOrderWebhooks([change(4), change(9)], after(9), new Map());
  expect([...sentTotals]).toEqual([['order:a', { changeNumber: 9, totals: '{"captured":2}' }]]);
  expect(webhooks[0]).toEqual({
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

/** The page of the console to which an alert and its messages lead. */
import { describe, expect, test } from 'vitest';
import {
  idOfPart,
  isResourceKind,
  orderPath,
  resourcePath,
  subjectPath,
} from '../../../src/alerts/domain/subjectPath.ts';

describe('the subject of an alert leads to its page', () => {
  test.each([
    ['payment:pay_1', '/payments/pay_1'],
    ['refund:ref_1', '/refunds/ref_1'],
    ['dispute:dp_1', '/disputes/dp_1'],
    ['payout:po:1', '/payouts/po%3A1'],
    ['order:order:1001', '/orders/1001'],
    ['order:order:a:b', '/orders/a%3Ab'],
    ['order:payment:pay_1', '/orders/pay_1?by=payment'],
    ['event:12', '/inbox/12'],
    ['message:msg_1', '/messages/msg_1'],
    ['list:payments', '/reconciliation'],
    ['totals:payments', '/reconciliation'],
    ['currency:USD', '/ledger/journal?currency=USD'],
    ['channel:slack', '/alerts/channels'],
    ['system:webhooks', '/inbox'],
    ['system:events', '/inbox'],
    ['system:reconciliation', '/reconciliation'],
    ['system:queue', '/system/queues'],
    ['system:retention', '/system/retention'],
    ['system:bodies', '/system/retention'],
    ['system:erasures', '/system/erasures'],
    ['system:clock:worker-1', '/system'],
  ])('%s: %s', (subject, path) => {
    expect(subjectPath(subject)).toBe(path);
  });

  test.each(['customer:cus_1', 'profile:pro_1', 'nothing', ''])('%j has none', (subject) => {
    expect(subjectPath(subject)).toBeUndefined();
  });
});

test('an id from outside is one part of the path', () => {
  const id = '../x?y#z&a=b';
  const encoded = '..%2Fx%3Fy%23z%26a%3Db';
  expect(resourcePath('payment', id)).toBe(`/payments/${encoded}`);
  expect(orderPath(id)).toBe(`/orders/${encoded}`);
  expect(orderPath(id, 'order')).toBe(`/orders/${encoded}`);
  expect(orderPath(id, 'payment')).toBe(`/orders/${encoded}?by=payment`);
  expect(subjectPath(`event:${id}`)).toBe(`/inbox/${encoded}`);
  expect(subjectPath(`message:${id}`)).toBe(`/messages/${encoded}`);
  expect(subjectPath(`currency:${id}`)).toBe(`/ledger/journal?currency=${encoded}`);
});

test('only payments, refunds, disputes and payouts are resources', () => {
  const kinds = ['payment', 'refund', 'dispute', 'payout', 'order', 'event', 'payments', ''];
  expect(kinds.filter(isResourceKind)).toEqual(['payment', 'refund', 'dispute', 'payout']);
});

test.each([
  ['.', '~.'],
  ['..', '~..'],
  ['~..', '~~..'],
])('the id %s is no step to another folder, and is read back from its part', (id, part) => {
  expect(resourcePath('payment', id)).toBe(`/payments/${part}`);
  expect(idOfPart(part)).toBe(id);
});

test.each(['...', 'a~..', '~pay_1', '~..a', 'pay_1', 'a..'])('the id %s stays as it is', (id) => {
  expect(resourcePath('payment', id)).toBe(`/payments/${id}`);
  expect(idOfPart(id)).toBe(id);
});

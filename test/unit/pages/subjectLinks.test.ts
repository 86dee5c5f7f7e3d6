/** Where the subjects of alerts, findings, erasures and the audit log lead. */
import { describe, expect, test } from 'vitest';
import { idOfPart, pathPart } from '../../../src/alerts/domain/subjectPath.ts';
import { namedIn } from '../../../src/pages/findings/namedIn.ts';
import { subjectHref, thingHref, timelineHref } from '../../../src/pages/links.ts';

test('an address with two question marks keeps both: the second is text', () => {
  expect(timelineHref('/orders/a?by=payment&x=1?2&notice=3', '1')).toBe(
    '/orders/a?by=payment&x=1%3F2&recorded=1',
  );
});

test.each([
  ['payment:pay_1', '/payments/pay_1'],
  ['payout:po:1', '/payouts/po%3A1'],
  ['order:order:1001', '/orders/1001'],
  ['order:payment:pay_1', '/orders/pay_1?by=payment'],
  ['event:12', '/inbox/12'],
  ['finding:3', '/findings/3'],
  ['alert:4', '/alerts/4'],
  ['message:msg_1', '/messages/msg_1'],
  ['replay:5', '/replays/5'],
  ['reconciliation:6', '/reconciliation/6'],
  ['list:payments', '/reconciliation'],
  ['channel:slack', '/alerts/channels'],
  ['system:webhooks', '/inbox'],
  ['system:clock', '/system'],
  ['customer:cus_1', undefined],
  ['nothing', undefined],
])('the subject %s leads to %s', (subject, path) => {
  expect(subjectHref(subject)).toBe(path);
});

test.each([
  ['order', '1001', '/orders/1001'],
  // As the audit log and erasures name it: by its id, which may have a colon.
  ['order', 'order:7', '/orders/order%3A7'],
  ['reconciliation', 'payments,refunds', '/reconciliation'],
  ['session', '2', '/sessions/2'],
  ['erasure', '2', '/system/erasures/2'],
  ['token', 'ada', '/system/tokens'],
  ['toString', 'x', undefined],
])('the %s %s leads to %s', (kind, id, path) => {
  expect(thingHref({ kind, id })).toBe(path);
});

test.each(['.', '..', '~.', '~~..', '...', '~', '~a', '%2e', 'a/..'])(
  'a browser does not change the part of a path that names %s, and it names nothing else',
  (id) => {
    const address = `/payments/${pathPart(id)}`;
    const { pathname } = new URL(address, 'http://console');
    expect(pathname).toBe(address);
    expect(idOfPart(decodeURIComponent(pathname.slice('/payments/'.length)))).toBe(id);
  },
);

test('no text of a subject leads out of its folder', () => {
  for (const kind of ['payment', 'event', 'alert', 'message', 'reconciliation', 'order']) {
    const path = thingHref({ kind, id: '../../sign-out?x=1#y' }) ?? '';
    expect(path).not.toMatch(/\.\.\/|\?x|#/);
  }
});

describe('the facts of a finding', () => {
  test('name resources by their ids, and parts with their ids', () => {
    const refunds = [{ id: 'ref_1', amountMinor: 1, currency: 'USD' }];
    expect(namedIn({ payments: ['pay_1', 'pay_2'], refunds, currency: 'USD' })).toEqual([
      { id: 'pay_1', href: '/payments/pay_1' },
      { id: 'pay_2', href: '/payments/pay_2' },
      { id: 'ref_1', href: '/refunds/ref_1' },
    ]);
  });

  test('that may be unknown lead to a search', () => {
    expect(namedIn({ resource: 'payment:pay_9' })).toEqual([
      { id: 'payment:pay_9', href: '/search?q=pay_9' },
    ]);
  });

  test.each([[null], ['text'], [[]], [{ payments: { id: 7 } }], [{ constructor: 'x' }]])(
    'without ids name nothing: %j',
    (detail) => expect(namedIn(detail)).toEqual([]),
  );
});

/** How alerts write amounts, times, text from outside, and what a resource belongs to. */
import { describe, expect, test } from 'vitest';
import {
  belonging,
  history,
  instant,
  money,
  quote,
  reasonSentence,
  resourceDetail,
  shortened,
  span,
  subjectOf,
} from '../../../src/alerts/domain/format.ts';
import { counted } from '../../../src/platform/counted.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/platform/time.ts';
import { facts } from './facts.ts';

test.each([
  [6540, 'USD', '65.40 USD'],
  [0, 'JPY', '0 JPY'],
  [undefined, 'USD', 'an unknown amount'],
  [6540, undefined, 'an unknown amount'],
])('%s minor units of %s are %s', (amountMinor, currency, text) => {
  expect(money(amountMinor, currency)).toBe(text);
});

test('a time has its minute and its zone', () => {
  expect(instant(Date.UTC(2026, 10, 21, 17, 5, 59, 999))).toBe('2026-11-21 17:05 UTC');
});

test.each([
  [0, '0 s'],
  [42 * SECOND_MS + 999, '42 s'],
  [2 * MINUTE_MS - 1, '119 s'],
  [2 * MINUTE_MS, '2 min'],
  [8 * MINUTE_MS - 1, '7 min'],
  [2 * HOUR_MS - 1, '119 min'],
  [2 * HOUR_MS, '2 h'],
  [6 * HOUR_MS - 1, '5 h'],
  [2 * DAY_MS - 1, '47 h'],
  [2 * DAY_MS, '2 d'],
  [4 * DAY_MS - 1, '3 d'],
])('%i ms are at least %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
])('%i: %s', (count, text) => {
  expect(counted(count, 'event')).toBe(text);
});

describe('text from outside', () => {
  test.each([
    ['on_hold', 'on_hold'],
    [' on\r\n\u0000the \t moon ', 'on the moon'],
    // Directions and invisible signs would change what a person reads.
    ['a\u202Eb\u200Bc', 'a b c'],
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), `${'x'.repeat(79)}…`],
    // A character of two code units is kept or left out as a whole.
    [`${'x'.repeat(78)}😀😀`, `${'x'.repeat(78)}…`],
  ])('%j is on one short line', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  test.each([
    ['one two three', 'one…'],
    // The half of a character that came from outside stays; the one that the cut left does not.
    ['\ud800ab😀cd', '\ud800ab…'],
  ])('%j is cut to five letters at most: %j', (text, cut) => {
    expect(shortened(text, 5)).toBe(cut);
  });

  test.each([[undefined], [null], [7], [{}], [''], [' \n\u0000']])('%j is unknown', (text) => {
    expect(quote(text)).toBe('unknown');
  });
});

describe('the reason', () => {
  test.each([
    ['Account closed', ' Reason: Account closed.'],
    ['Account closed.', ' Reason: Account closed.'],
    ['Closed. See bank', ' Reason: Closed. See bank.'],
    ['Closed!', ' Reason: Closed!'],
    ['Closed?', ' Reason: Closed?'],
    ['x'.repeat(300), ` Reason: ${'x'.repeat(300)}.`],
    ['x'.repeat(301), ` Reason: ${'x'.repeat(299)}…`],
  ])('%j is a sentence', (reason, text) => {
    for (const kind of ['payout', 'dispute'] as const) {
      expect(reasonSentence({ kind, reason })).toBe(text);
    }
  });

  test.each([undefined, '', ' \n'])('%j is none, which only failures mention', (reason) => {
    const none = ' The service gives no reason.';
    expect(reasonSentence({ kind: 'payout', reason })).toBe(none);
    expect(reasonSentence({ kind: 'refund', reason })).toBe(none);
    expect(reasonSentence({ kind: 'dispute', reason })).toBe('');
  });
});

const refund = facts({ kind: 'refund', id: 'ref 1', orderId: '10 01', paymentId: 'pay_1' });

test('a resource names its order and its payment, and a payment not itself', () => {
  expect(belonging(refund)).toBe(' (order 10 01, payment pay_1)');
  expect(belonging({ ...refund, orderId: undefined })).toBe(' (payment pay_1)');
  expect(belonging({ ...refund, paymentId: undefined })).toBe(' (order 10 01)');
  expect(belonging({ ...refund, kind: 'payment' })).toBe(' (order 10 01)');
  expect(belonging({ ...refund, kind: 'payment', orderId: undefined })).toBe('');
});

test('the history of a resource is that of its order; payouts have none', () => {
  expect(history(refund)).toBe("npx tallyhook orders explain '10 01'");
  expect(history({ ...refund, orderId: undefined })).toBe("npx tallyhook find 'ref 1'");
  expect(history({ ...refund, kind: 'payout' })).toBe("npx tallyhook find 'ref 1'");
});

test('an alert is about a resource by its kind and id', () => {
  expect(subjectOf(refund)).toBe('refund:ref 1');
});

test('programs get what is known of a resource, and the status before only if it was another', () => {
  const known = { id: 'ref 1', status: 'failed', amountMinor: 6540, currency: 'USD' };
  const failed = { ...refund, status: 'failed' };
  expect(resourceDetail(failed)).toStrictEqual(known);
  expect(
    resourceDetail({ ...failed, stage: 'dispute', reason: 'Closed', before: before('pending') }),
  ).toStrictEqual({ ...known, stage: 'dispute', reason: 'Closed', previousStatus: 'pending' });
  expect(resourceDetail({ ...failed, before: before('failed') })).toStrictEqual(known);
});

function before(status: string) {
  return { status, stage: undefined, deadlineMs: undefined, termDays: undefined };
}

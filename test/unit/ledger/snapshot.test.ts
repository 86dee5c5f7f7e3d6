/** Tests cite the rules at the head of src/ledger/domain/snapshot.ts as S1, S2, S3. */
import { describe, expect, test } from 'vitest';
import { readResource } from '../../../src/ledger/domain/snapshot.ts';
import { T0 } from '../../support/lives.ts';

const read = (object: unknown) => readResource(object, T0);

describe('S3: the kind is read from the ids', () => {
  test.each([
    [
      { dispute_id: 'd', refund_id: 'r', payment_id: 'p' },
      { kind: 'dispute', id: 'd' },
    ],
    [
      { refund_id: 'r', payment_id: 'p' },
      { kind: 'refund', id: 'r' },
    ],
    [
      { payout_id: 'o', payment_id: 'p' },
      { kind: 'payout', id: 'o' },
    ],
    [{ payment_id: 'p' }, { kind: 'payment', id: 'p' }],
  ])('%j is %j', (object, ref) => {
    expect(read(object)).toMatchObject({ outcome: 'read', ref });
  });

  test.each([
    [undefined],
    [null],
    ['payment_id'],
    [[{ payment_id: 'p' }]],
    [{}],
    [{ subscription_id: 's' }],
    [{ payment_id: 7 }],
    [{ payment_id: '' }],
    [{ payment_id: 'a\u0000b' }],
    [{ payment_id: 'x'.repeat(256) }],
    [JSON.parse('{"__proto__": {"payment_id": "p"}}')],
  ])('%j names no resource', (object) => {
    expect(read(object)).toEqual({ outcome: 'unknown_resource' });
  });
});

describe('S2: money that is there but cannot be read makes the body unusable', () => {
  test.each([
    ['amount', 1.5],
    ['amount', -1],
    ['amount', 2 ** 53],
    ['amount', '12.00'],
    ['amount', '1e3'],
    ['amount', '9007199254740992'],
    ['amount', true],
    ['amount', [1]],
    ['amount_received', Number.POSITIVE_INFINITY],
    ['amount_capturable', {}],
    ['currency', 'DOLLARS'],
    ['currency', 840],
  ])('%s = %j', (field, value) => {
    expect(read({ payment_id: 'p', status: 'succeeded', [field]: value })).toMatchObject({
      outcome: 'unreadable',
      field,
    });
  });

  test.each([
    ['6540', 6540],
    [0, 0],
    [2 ** 53 - 1, 2 ** 53 - 1],
    ['9007199254740991', 2 ** 53 - 1],
  ])('%j is read exactly', (amount, amountMinor) => {
    expect(read({ dispute_id: 'd', amount })).toMatchObject({ content: { amountMinor } });
  });
});

describe('S1: what was not carried stays undefined', () => {
  test('absent, null and empty are the same', () => {
    const bare = read({ payment_id: 'p', status: 'failed' });
    const nulls = {
      amount: null,
      currency: null,
      unified_code: null,
      error_code: '',
      metadata: null,
    };
    expect(read({ payment_id: 'p', status: 'failed', ...nulls })).toEqual(bare);
    expect(bare).toMatchObject({ content: { status: 'failed' } });
  });
});

describe('fields', () => {
  test('the version keeps microseconds, under each of its names', () => {
    for (const name of ['modified_at', 'updated', 'updated_at']) {
      expect(read({ payment_id: 'p', [name]: '2026-11-01T10:00:00.123456Z' })).toMatchObject({
        content: { versionMicros: Date.UTC(2026, 10, 1, 10) * 1000 + 123_456 },
      });
    }
  });

  test('a version more than five minutes ahead of its receipt is none', () => {
    const ahead = new Date(T0 / 1000 + 5 * 60_000 + 1).toISOString();
    const reading = read({ payment_id: 'p', status: 'succeeded', modified_at: ahead });
    expect(reading).toMatchObject({ versionAhead: true, content: { status: 'succeeded' } });
    expect(reading).not.toHaveProperty('content.versionMicros');
  });

  test('an order id is text or a whole number; anything else names no order', () => {
    const orderIdOf = (order_id: unknown) => {
      const reading = read({ payment_id: 'p', metadata: { order_id } });
      return reading.outcome === 'read' ? reading.content.orderId : 'unread';
    };
    expect(orderIdOf('ord-1')).toBe('ord-1');
    expect(orderIdOf(17)).toBe('17');
    for (const odd of [1.5, '', 'a\nb', 'x'.repeat(300), {}, [], true]) {
      expect(orderIdOf(odd)).toBeUndefined();
    }
  });

  test('dispute_status goes before status, its prefix is dropped, and submitted is challenged', () => {
    expect(read({ dispute_id: 'd', dispute_status: 'dispute_won', status: 'x' })).toMatchObject({
      content: { status: 'won' },
    });
    expect(read({ dispute_id: 'd', status: 'submitted' })).toMatchObject({
      content: { status: 'challenged' },
    });
  });

  test('text that PostgreSQL cannot hold is made storable', () => {
    expect(read({ payment_id: 'p', status: 'a\u0000b\ud800' })).toMatchObject({
      content: { status: 'a\uFFFDb\uFFFD' },
    });
  });

  test('nobody personal is kept: neither names nor secrets enter the content', () => {
    const reading = read({
      payment_id: 'p',
      status: 'succeeded',
      email: 'a@example.com',
      client_secret: 'p_secret_x',
      billing: { address: { line1: '1 Street' } },
      description: 'for Jane',
    });
    expect(JSON.stringify(reading)).not.toMatch(/example|secret_x|Street|Jane/);
  });
});

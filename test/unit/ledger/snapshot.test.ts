/** Tests cite the rules at the head of src/ledger/domain/snapshot.ts as S1, S2, S3. */
import { describe, expect, test } from 'vitest';
import { contentHash } from '../../../src/ledger/contentHash.ts';
import {
  readResource,
  supplementOf,
  withoutAddedFields,
} from '../../../src/ledger/domain/snapshot.ts';
import { T0 } from '../../support/observations.ts';

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

describe('S2: unreadable money makes the body unusable', () => {
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
    ['net_amount', 30.9],
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

describe('S1: fields that the body does not have stay undefined', () => {
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

  test('a version more than five minutes ahead of its receipt is ignored', () => {
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

  test('dispute_status takes precedence over status, its prefix is dropped, and submitted is challenged', () => {
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

  test('the reason is read from the fields of each kind, without card numbers, and bounded', () => {
    const contentOf = (object: object) => {
      const reading = read(object);
      return reading.outcome === 'read' ? reading.content : {};
    };
    expect(
      contentOf({
        payout_id: 'po',
        error_code: 'AC04',
        error_message: 'Account closed',
        reason: 'x',
      }),
    ).toEqual({ errorCode: 'AC04', errorMessage: 'Account closed' });
    expect(contentOf({ refund_id: 'r', reason: 'returned' })).toEqual({ reason: 'returned' });
    expect(
      contentOf({ dispute_id: 'd', connector_reason: 'Fraud', connector_reason_code: '10.4' }),
    ).toEqual({ reason: 'Fraud', reasonCode: '10.4' });
    expect(contentOf({ payment_id: 'p', cancellation_reason: 'abandoned' })).toEqual({
      reason: 'abandoned',
    });
    expect(
      contentOf({ payment_id: 'p', error_details: { connector_details: { reason: 'expired' } } }),
    ).toEqual({ reason: 'expired' });
    expect(
      contentOf({ refund_id: 'r', error_message: 'card 4242 4242 4242 4242 refused' }),
    ).toEqual({ errorMessage: 'card [digits] refused' });
    const endless = `${'4242 4242 4242 4242 '.repeat(110)}tail`;
    expect(contentOf({ refund_id: 'r', error_message: endless }).errorMessage).not.toMatch(/4242/);
    expect(contentOf({ refund_id: 'r', reason: 'x'.repeat(5_000) }).reason).toHaveLength(500);
  });

  test('every text field of each kind is read without personal data, also a text that is cut', () => {
    const mail = 'jane.doe@example.com';
    const iban = 'GB29 NWBK 6016 1331 9268 19';
    const text = `for ${mail}, ${iban}`;
    const details = {
      unified_code: text,
      unified_message: text,
      error_code: text,
      error_message: text,
    };
    for (const object of [
      { payment_id: 'p', ...details, cancellation_reason: text },
      { payment_id: 'p', ...details, error_details: { connector_details: { reason: text } } },
      { refund_id: 'r', ...details, reason: text },
      { dispute_id: 'd', ...details, connector_reason: text, connector_reason_code: text },
      { payout_id: 'po', ...details },
    ]) {
      const reading = read(object);
      if (reading.outcome !== 'read') throw new Error('not read');
      const texts = Object.values(reading.content);
      expect(texts.length).toBeGreaterThanOrEqual(4);
      expect(new Set(texts)).toEqual(new Set(['for [email], [iban]']));
    }
    for (let length = 440; length <= 500; length += 1) {
      const reading = read({ refund_id: 'r', reason: `${'x'.repeat(length)} ${text}` });
      expect(JSON.stringify(reading)).not.toMatch(/jane|NWBK/);
    }
  });

  test('a content without the fields that were added later keeps its hash', () => {
    const body = {
      payment_id: 'p',
      status: 'failed',
      amount: 100,
      currency: 'USD',
      error_code: '51',
    };
    const first = read(body);
    const later = read({ ...body, net_amount: 103, error_message: 'no', cancellation_reason: 'x' });
    if (first.outcome !== 'read' || later.outcome !== 'read') throw new Error('not read');
    expect(contentHash(first.content)).toBe(
      '54815013e43784f9399486ba4ca0ae0454e938337a374f5b81eef616309d4429',
    );
    expect(later.content).toMatchObject({ netAmountMinor: 103, errorMessage: 'no', reason: 'x' });
    expect(contentHash(withoutAddedFields(later.content))).toBe(contentHash(first.content));
  });

  test('no personal data is kept: the content has no names and no secrets', () => {
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

describe('a row with few fields', () => {
  test('adds the creation time of the resource; of a dispute only with its stage', () => {
    const createdMicros = T0;
    const row = { createdMicros, status: 'succeeded', amountMinor: 5, currency: 'USD' };
    for (const kind of ['payment', 'refund', 'payout'] as const) {
      expect(supplementOf({ kind }, row)).toEqual({ createdMicros });
      expect(supplementOf({ kind }, { status: 'succeeded' })).toBeUndefined();
    }
    const stage = 'arbitration';
    expect(supplementOf({ kind: 'dispute' }, { ...row, stage })).toEqual({ stage, createdMicros });
    // Without its stage it would count as one of the stage `dispute`.
    expect(supplementOf({ kind: 'dispute' }, row)).toBeUndefined();
  });
});

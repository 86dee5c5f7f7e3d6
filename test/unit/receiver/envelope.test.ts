import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../../src/receiver/envelope.ts';

const NO_ENVELOPE = { eventId: undefined, merchantId: undefined, eventType: undefined };

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const ENVELOPE = { event_id: 'evt_1', merchant_id: 'm_1', event_type: 'payment_succeeded' };
const NAMED = { eventId: 'evt_1', merchantId: 'm_1', eventType: 'payment_succeeded' };

describe('reading an envelope', () => {
  it('reads the three names and nothing else', () => {
    expect(readEnvelope(json({ ...ENVELOPE, content: { type: 'x' }, extra: 1 }))).toEqual(NAMED);
  });

  it.each<[string, unknown, string | undefined]>([
    ['a payment', { payment_id: 'pay_1', status: 'succeeded' }, 'pay_1'],
    ['a refund of a payment', { refund_id: 'ref_1', payment_id: 'pay_1' }, 'pay_1'],
    ['a payout', { payout_id: 'payout_1' }, 'payout_1'],
    ['a payment with an unusable id', { payment_id: 17, payout_id: 'payout_1' }, 'payout_1'],
    ['something else', { id: 'x' }, undefined],
    ['no object', undefined, undefined],
    ['a list', [{ payment_id: 'pay_1' }], undefined],
  ])('reads what the event is about: %s', (_, object, subject) => {
    expect(readEnvelope(json({ ...ENVELOPE, content: { object } })).subject).toBe(subject);
  });

  it('drops a byte order mark', () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json(ENVELOPE)]);
    expect(readEnvelope(body)).toEqual(NAMED);
  });

  it('ignores white space around the JSON', () => {
    expect(readEnvelope(Buffer.from(`\r\n\t ${JSON.stringify(ENVELOPE)} \n`))).toEqual(NAMED);
  });

  it('decodes JSON escapes', () => {
    const body = Buffer.from('{"\\u0065vent_id":"evt\\u005f1"}');
    expect(readEnvelope(body)).toEqual({ ...NO_ENVELOPE, eventId: 'evt_1' });
  });

  it('uses the last of equal keys, like the ledger', () => {
    expect(readEnvelope(Buffer.from('{"event_id":"evt_1","event_id":"evt_2"}'))).toEqual({
      ...NO_ENVELOPE,
      eventId: 'evt_2',
    });
  });

  it.each<[string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['text', Buffer.from('evt_1')],
    ['JSON that breaks off', Buffer.from('{"event_id":"evt_1"')],
    ['JSON with trailing text', Buffer.from('{"event_id":"evt_1"}x')],
    ['two JSON values', Buffer.from('{"event_id":"evt_1"}{"event_id":"evt_2"}')],
    ['an array', json([ENVELOPE])],
    ['a string', json('evt_1')],
    ['a number', json(1)],
    ['null', json(null)],
    ['an empty object', json({})],
    ['invalid UTF-8 in a name', Buffer.from('{"event_id":"evt\xff"}', 'latin1')],
    ['invalid UTF-8 elsewhere', Buffer.from('{"event_id":"evt_1","a":"\xff"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('7b226576656e745f6964223a22eda080227d', 'hex')],
    ['UTF-16', Buffer.from(JSON.stringify(ENVELOPE), 'utf16le')],
  ])('names nothing in %s', (_, body) => {
    expect(readEnvelope(body)).toEqual(NO_ENVELOPE);
  });

  it.each([
    ['null', null],
    ['a number', 17],
    ['a boolean', true],
    ['an array', ['evt_1']],
    ['an object', { event_id: 'evt_1' }],
    ['nothing', ''],
    ['spaces', '  '],
    ['a leading space', ' evt'],
    ['a trailing space', 'evt '],
    ['a trailing no-break space', 'evt\u00a0'],
    ['256 characters', 'e'.repeat(256)],
    ['3 kB', 'e'.repeat(3_000)],
    ['NUL', 'evt\u0000'],
    ['a line break', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u0085b'],
    ['a mark that turns the reading direction', 'a\u202eb'],
    ['an invisible character', 'a\u200bb'],
    ['a lone surrogate', 'a\ud800b'],
    ['a character of private use', 'a\ue000b'],
  ])('names nothing when the event_id is, or holds, %s', (_, eventId) => {
    expect(readEnvelope(json({ ...ENVELOPE, event_id: eventId }))).toEqual(NO_ENVELOPE);
  });

  it.each([
    ['one character', 'e'],
    ['255 characters', 'e'.repeat(255)],
    ['letters of many scripts', 'évt_鍵_ключ_👟'],
    ['a space inside', 'evt 1'],
    ['quotes and slashes', `'"\\/;--`],
    ['a word of JavaScript', '__proto__'],
  ])('keeps an event_id of %s unchanged', (_, eventId) => {
    expect(readEnvelope(json({ ...ENVELOPE, event_id: eventId }))).toMatchObject({ eventId });
  });

  it.each([null, 7, '', 'm\u0000', 'm'.repeat(256), undefined])(
    'omits a merchant id and an event type that cannot be stored: %j',
    (value) => {
      const body = json({ event_id: 'evt_1', merchant_id: value, event_type: value });
      expect(readEnvelope(body)).toEqual({ ...NO_ENVELOPE, eventId: 'evt_1' });
    },
  );

  it('reads own keys only, for any value of __proto__ or constructor', () => {
    const inner = JSON.stringify(ENVELOPE);
    expect(readEnvelope(Buffer.from(`{"__proto__":${inner}}`))).toEqual(NO_ENVELOPE);
    expect(readEnvelope(Buffer.from(`{"constructor":{"prototype":${inner}}}`))).toEqual(
      NO_ENVELOPE,
    );
    expect(Reflect.get({}, 'event_id')).toBeUndefined();
  });

  it('reads no name from a polluted prototype', () => {
    Object.defineProperty(Object.prototype, 'event_id', { value: 'evt_1', configurable: true });
    try {
      expect(readEnvelope(Buffer.from('{}'))).toEqual(NO_ENVELOPE);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'event_id');
    }
  });

  it('reads a body nested 100,000 levels deep', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(readEnvelope(Buffer.from(`{"event_id":"evt_1","a":${deep}}`))).toMatchObject({
      eventId: 'evt_1',
    });
    expect(readEnvelope(Buffer.from(deep))).toEqual(NO_ENVELOPE);
    expect(readEnvelope(Buffer.from('['.repeat(100_000)))).toEqual(NO_ENVELOPE);
  });

  it('never throws, and returns only names that can be stored as text', () => {
    const storable = (text: string | undefined) =>
      text === undefined || (text.isWellFormed() && !/\p{C}/u.test(text) && text.length <= 255);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          fc.json().map((text) => Buffer.from(text)),
          fc
            .record(
              {
                event_id: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
                merchant_id: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
                event_type: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
              },
              { requiredKeys: [] },
            )
            .map(json),
        ),
        (body) => Object.values(readEnvelope(body)).every(storable),
      ),
      { numRuns: 500 },
    );
  });
});

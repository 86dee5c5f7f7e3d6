import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, redactKey } from '../../../src/client/redact.ts';

const KEY = 'snd_unit-key-Zq7xW2vN9bTe4mLp';
const CARD = '4242424242424242';
/** A part of a secret that is long enough to help an attacker guess the rest. */
const PIECE_LENGTH = 8;

const redact = createRedactor(KEY);

function piecesIn(text: string, secret: string): readonly string[] {
  const places = Array.from({ length: secret.length - PIECE_LENGTH + 1 }, (_, place) => place);
  return places
    .map((place) => secret.slice(place, place + PIECE_LENGTH))
    .filter((piece) => text.includes(piece));
}

describe('text of the service in an error', () => {
  test('contains no part of the key, regardless of where the text or the quote is cut', () => {
    // The quote ends at 300 characters, the part that is read at 10,000.
    const nearCut = fc.oneof(
      fc.integer({ min: 260, max: 310 }),
      fc.integer({ min: 9_950, max: 10_050 }),
    );
    // Digits of a card shrink to one short word, so that a far part of the text reaches the quote.
    const filler = fc.constantFrom('x', ' ', '1', '4242 4242 4242 4242 ', '\u0000');
    fc.assert(
      fc.property(nearCut, filler, fc.boolean(), (length, unit, isTwice) => {
        const before = unit.repeat(length).slice(0, length);
        const quoted = redact(`${before}${KEY}${isTwice ? KEY : ''} tail`);
        expect(piecesIn(quoted, KEY)).toEqual([]);
      }),
    );
    expect(redact(`key ${KEY} refused`)).toBe('key [key] refused');
  });

  test.each([
    ['as one number', CARD],
    ['in groups', '4242 4242 4242 4242'],
    ['with hyphens', '4242-4242-4242-4242'],
    ['among other digits', `12 ${CARD} 34`],
  ])('contains no card number: %s', (_form, digits) => {
    expect(redact(`card ${digits} declined`)).toBe('card [digits] declined');
  });

  test('contains no part of a card number where the quote is cut', () => {
    for (let length = 280; length <= 300; length += 1) {
      expect(piecesIn(redact(`${'x'.repeat(length)}${CARD}`), CARD)).toEqual([]);
    }
  });

  test.each(['6540', '20261101100001', '4242424242424241'])('keeps other digits: %s', (digits) => {
    expect(redact(`amount ${digits}`)).toBe(`amount ${digits}`);
  });

  const ACCOUNT = { account_holder_name: 'Ada (Q.) Payee', bank_account_number: '000940123456' };

  test.each<[string, object]>([
    ['of the receiver', { payout_method_data: { bank_transfer: ACCOUNT } }],
    ['that the money comes from', { source_bank_data: ACCOUNT }],
  ])('contains no account %s, in any case and regardless of its form', (_role, fields) => {
    const quoted = 'account 000940123456 of ADA (Q.) PAYEE is closed; amount 2500';
    const redacted = 'account [account] of [account] is closed; amount 2500';
    expect(redact(quoted, { amount: 2500, ...fields })).toBe(redacted);
    expect(redact(quoted, { description: 'Ada (Q.) Payee' })).toBe(quoted);
  });

  test('contains no control or format characters, which could forge or hide lines of a log', () => {
    const hostile = 'a\nb\r\nc\td\u0000e\u001b[31mf\u0085g\u200bh\u202ei\ufeffj';
    expect(redact(hostile)).toBe('a b  c d e [31mf g h i j');
    const halfCut = `${'x'.repeat(299)}\u{1f4b3}`;
    expect(redact(halfCut)).toBe(`${'x'.repeat(299)} `);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(redact(text)).not.toMatch(/\p{Cc}|\p{Cf}|\p{Cs}/u);
      }),
    );
  });

  test('is quoted up to 300 characters', () => {
    expect(redact('x'.repeat(300))).toHaveLength(300);
    expect(redact('x'.repeat(20_000))).toHaveLength(300);
  });
});

test('an id that contains the key is kept without it', () => {
  expect(redactKey(`req-${KEY}-1`, KEY)).toBe('req-[key]-1');
});

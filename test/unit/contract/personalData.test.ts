import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactPersonalData } from '../../../src/contract/personalData.ts';

const LENGTH = 2_000;
const redact = (text: string) => redactPersonalData(text, LENGTH);

describe('personal data in foreign text', () => {
  test.each([
    ['refused by jane.doe+shop@mail.example.co.uk.', 'refused by [email].'],
    ['<jane@example.com>, "joe@1.example.com"', '<[email]>, "[email]"'],
    ['https://bank.example/?user=jane%40example.com&x=1', 'https://bank.example/?user=[email]&x=1'],
    ['müller@bücher.example', '[email]'],
    ['payer jane@okbank declined', 'payer [email] declined'],
    ['4242424242424242@example.com', '[email]'],
    ['IBAN DE89370400440532013000 closed', 'IBAN [iban] closed'],
    ['IBANDE89 3704 0044 0532 0130 00 was closed', 'IBAN[iban] was closed'],
    ['gb29-nwbk-6016-1331-9268-19', '[iban]'],
    ['NO9386011117947, MT84MALT011000012345MTLCAST001S', '[iban], [iban]'],
    ['card 4242 4242 4242 4242 refused', 'card [digits] refused'],
    ['CVC: 123 wrong', 'CVC: [digits] wrong'],
    ['{"cvv2":"1234"}', '{"cvv2":"[digits]"}'],
    ['the security code is 987', 'the security code is [digits]'],
    ['call +49 (30) 1234-5678 now', 'call [phone] now'],
    ['tel:+14155552671', 'tel:[phone]'],
  ])('is replaced: %s', (text, redacted) => {
    expect(redact(text)).toBe(redacted);
  });

  test.each([
    ['an amount, a code and an id', '65.40 USD, R01, UE_1001, pay_a1B2c3D4e5F6g7H8i9J0'],
    ['an at sign that belongs to no address', '2 items @ 5 EUR, qty 2@5, @support'],
    ['an IBAN with wrong check digits', 'DE88370400440532013000'],
    ['an IBAN of a wrong length', 'DE8937040044053201300'],
    ['digits without a label', 'code 123, response 1234'],
    ['a label without digits', 'CVC check failed: N7'],
    ['a sum, a time zone and a short number', 'a+12345678 2026-11-01T00:00:00+01:00 +1234'],
    ['a telephone number without its country', '030 1234567'],
  ])('is not found in %s', (_what, text) => {
    expect(redact(text)).toBe(text);
  });

  test('is only called digits where the text is cut if there are some', () => {
    expect(redactPersonalData('words '.repeat(10), 40)).toBe('words '.repeat(6).trim());
    expect(redactPersonalData('words - '.repeat(10), 40)).toBe(`${'words - '.repeat(4)}words -`);
    expect(redactPersonalData(`words ${'42 '.repeat(20)}`, 40)).toBe('words [digits]');
  });

  test('is not left in part where the text is cut', () => {
    const secrets = ['jane.doe@example.com', 'GB29 NWBK 6016 1331 9268 19', '4242 4242 4242 4242'];
    for (const secret of secrets) {
      for (let length = LENGTH - secret.length; length <= LENGTH; length += 1) {
        const redacted = redact(`${'x '.repeat(LENGTH).slice(0, length - 1)} ${secret} tail`);
        expect(redacted).not.toMatch(/jane|doe|6016|1331|4242/);
      }
    }
  });

  test('is replaced wherever it is among other words', () => {
    const secret = fc.constantFrom(
      'jane@example.com',
      'DE89370400440532013000',
      'GB29 NWBK 6016 1331 9268 19',
      '4242 4242 4242 4242',
      '+14155552671',
    );
    const word = fc.oneof(
      secret,
      fc.constantFrom('+', '@', '-', '1', '12:', 'iban', 'cvc', '[x]', '.'),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        expect(redact(words.join(' '))).not.toMatch(/jane|0440|NWBK|4242|5552/);
      }),
    );
  });
});

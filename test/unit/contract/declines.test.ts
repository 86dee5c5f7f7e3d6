import { describe, expect, it } from 'vitest';
import {
  DECLINE_CODES,
  DECLINE_FAMILIES,
  declineAdvice,
  LEGACY_DECLINE_CODES,
  RETRY_ADVICE,
  type RetryAdvice,
} from '../../../src/contract/declines.ts';

/** The contract's table, written a second time so that a mistake in the source shows. */
const DOCUMENTED_MESSAGES: Readonly<Record<string, string>> = {
  UE_1001: 'Insufficient funds',
  UE_1002: 'The card has expired',
  UE_1003: 'The card number is invalid',
  UE_1004: 'The security code is incorrect',
  UE_1005: 'The PIN is incorrect',
  UE_1006: 'The card was reported lost or stolen',
  UE_1007: 'The card was declined by the issuer',
  UE_1008: 'This card is not supported',
  UE_1009: 'The card is restricted',
  UE_1010: 'This transaction is not permitted for this card',
  UE_1011: "The transaction exceeds the card's limit",
  UE_1012: 'The transaction was declined for security reasons',
  UE_1013: 'Declined, please contact your card issuer',
  UE_1014: 'No record of this card was found',
  UE_1015: 'The card is not active',
  UE_1016: 'This account cannot be used for this payment',
  UE_1017: 'The cardholder has cancelled this payment',
  UE_1018: 'This payment may have already been processed',
  UE_1099: 'The payment was declined',
  UE_2001: 'This payment method is currently unavailable',
  UE_2002: 'Additional authentication is required',
  UE_2003: 'The payment was blocked',
  UE_2004: 'This currency or country is not supported',
  UE_3001: 'The payment service is temporarily unavailable, please try again later',
  UE_3002: 'The payment could not be processed, please try again',
  UE_3003: 'The payment timed out, please try again',
  UE_4001: 'Required payment information is missing or invalid',
  UE_4002: 'The security code is not the expected length',
  UE_4003: 'The payment session has expired, please start again',
  UE_4004: 'The transaction is in an invalid state',
  UE_5001: 'Card authentication failed',
  UE_5002: 'Authentication was declined by the issuer',
  UE_5003: 'Authentication was not completed',
  UE_5004: 'The cardholder could not be verified',
  UE_5005: 'The authentication service is unavailable',
  UE_5006: 'Too many authentication attempts',
  UE_5007: 'The device could not be recognised',
  UE_5008: 'The authentication response was invalid',
  UE_5009: 'No response from the authentication service',
  UE_5010: 'The card is not enrolled for authentication',
  UE_5011: 'Authentication timed out',
  UE_5012: 'This authentication method is not supported',
  UE_5013: 'The card has expired',
  UE_5014: 'The card number is invalid',
  UE_5015: 'The transaction is not valid for authentication',
  UE_5016: 'No record of this card was found',
  UE_5017: 'Authentication was declined for security reasons',
  UE_5018: 'The card was reported lost or stolen',
  UE_5019: 'Authentication is not permitted for this card',
  UE_5020: 'Required authentication data is missing or invalid',
  UE_5021: 'The authentication session has expired',
  UE_9000: 'Something went wrong',
};

const retryOf = (code: string) => declineAdvice(code).retry;

describe('listed decline codes', () => {
  it('are exactly those of the contract, with its messages', () => {
    const messages = Object.fromEntries(
      Object.entries(DECLINE_CODES).map(([code, { message }]) => [code, message]),
    );
    expect(messages).toEqual(DOCUMENTED_MESSAGES);
  });

  it.each(Object.entries(DOCUMENTED_MESSAGES))('%s is shown as "%s"', (code, message) => {
    const family = code === 'UE_9000' ? 'UE_9000' : `UE_${code[3]}xxx`;
    expect(declineAdvice(code)).toMatchObject({
      code,
      family,
      legacy: false,
      customerMessage: message,
    });
  });
});

describe('retry advice', () => {
  it('never retries a card or issuer decline, except to check a reported duplicate', () => {
    const retryable = codesOf('UE_1').filter((code) => retryOf(code) !== 'never');
    expect(retryable).toEqual(['UE_1018']);
    expect(retryOf('UE_1018')).toBe('check_earlier_payment');
  });

  it('never retries what risk rules blocked, except with 3-D Secure if the issuer requires it', () => {
    const retryable = codesOf('UE_2').filter((code) => retryOf(code) !== 'never');
    expect(retryable).toEqual(['UE_2002']);
    expect(retryOf('UE_2002')).toBe('with_3ds');
  });

  it.each<[string, RetryAdvice]>([
    ['UE_3', 'with_backoff'],
    ['UE_4', 'fix_request'],
    ['UE_9', 'never'],
  ])('is the same for every code of %s: %s', (prefix, retry) => {
    const codes = codesOf(prefix);
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes.map(retryOf))).toEqual(new Set([retry]));
  });

  it.each<[RetryAdvice, string[]]>([
    // The contract names UE_5003; in the other cases, too, the authentication did not finish.
    ['with_customer', ['UE_5003', 'UE_5005', 'UE_5009', 'UE_5011', 'UE_5021']],
    ['sometimes', ['UE_5001', 'UE_5004', 'UE_5007', 'UE_5008']],
    ['fix_request', ['UE_5020']],
  ])('for a failed authentication is %s for %j', (retry, codes) => {
    expect(codesOf('UE_5').filter((code) => retryOf(code) === retry)).toEqual(codes);
  });

  // A timer cannot pass a challenge, so automatic retries would use up attempts and reach UE_5006.
  it('never lets a timer retry a failed authentication', () => {
    expect(codesOf('UE_5').filter((code) => retryOf(code) === 'with_backoff')).toEqual([]);
  });

  it.each([
    ['UE_5013', 'UE_1002'],
    ['UE_5014', 'UE_1003'],
    ['UE_5016', 'UE_1014'],
    ['UE_5018', 'UE_1006'],
  ])('judges %s like %s, which means the same', (authenticationCode, cardCode) => {
    expect(declineAdvice(authenticationCode).customerMessage).toBe(
      declineAdvice(cardCode).customerMessage,
    );
    expect(retryOf(authenticationCode)).toBe(retryOf(cardCode));
  });

  it('states separately whether another method may help, so that a decline is not a dead end', () => {
    expect(declineAdvice('UE_1001')).toMatchObject({ mayRetry: false, mayUseAnotherMethod: true });
    const deadEnds = Object.keys(DECLINE_CODES).filter((code) => {
      const { mayRetry, mayUseAnotherMethod } = declineAdvice(code);
      return !mayRetry && !mayUseAnotherMethod;
    });
    // One could charge twice, the other was blocked by risk rules.
    expect(deadEnds).toEqual(['UE_1018', 'UE_2003']);
  });

  it.each([
    ['UE_1007', false],
    ['UE_1018', false],
    ['UE_2002', true],
    ['UE_3001', true],
    ['UE_4001', false],
    ['UE_5001', true],
    ['UE_5003', true],
    ['UE_5006', false],
    ['UE_9000', false],
    ['UE_1000', false],
    ['UE_3000', true],
    ['UE_5099', true],
  ])('%s may be retried with the same method: %s', (code, mayRetry) => {
    expect(declineAdvice(code).mayRetry).toBe(mayRetry);
  });

  it('does not suggest another method if none may help', () => {
    expect(declineAdvice('UE_1001').explanation).toMatch(/Another payment method may work\.$/);
    expect(declineAdvice('UE_2003').explanation).not.toContain('nother');
  });

  it('explains itself by the family and the advice', () => {
    expect(declineAdvice('UE_2002').explanation).toBe(
      `${DECLINE_FAMILIES.UE_2xxx.meaning}. ${RETRY_ADVICE.with_3ds}`,
    );
  });
});

describe('legacy coarse codes', () => {
  it.each<[string, string, RetryAdvice]>([
    ['UE_1000', 'UE_1xxx', 'never'],
    ['UE_2000', 'UE_2xxx', 'never'],
    ['UE_3000', 'UE_3xxx', 'with_backoff'],
    ['UE_4000', 'UE_4xxx', 'fix_request'],
  ])('%s has the advice of %s and leaves the message to unified_message', (code, family, retry) => {
    expect(declineAdvice(code)).toMatchObject({
      code,
      family,
      legacy: true,
      retry,
      customerMessage: undefined,
    });
  });

  it('are the four of the contract', () => {
    expect(Object.keys(LEGACY_DECLINE_CODES)).toEqual(['UE_1000', 'UE_2000', 'UE_3000', 'UE_4000']);
  });
});

describe('codes that are not listed', () => {
  it.each<[string, string, RetryAdvice]>([
    ['UE_1042', 'UE_1xxx', 'never'],
    ['UE_2099', 'UE_2xxx', 'never'],
    ['UE_3077', 'UE_3xxx', 'with_backoff'],
    ['UE_4999', 'UE_4xxx', 'fix_request'],
    ['UE_5000', 'UE_5xxx', 'sometimes'],
    ['UE_5099', 'UE_5xxx', 'sometimes'],
  ])('%s is judged by its family %s', (code, family, retry) => {
    expect(declineAdvice(code)).toMatchObject({
      code,
      family,
      legacy: false,
      retry,
      customerMessage: undefined,
    });
  });

  it.each([
    '',
    'UE_6001',
    'UE_9001',
    'UE_30010',
    'ue_3001',
    'XUE_3001',
    'constructor',
    '__proto__',
  ])('"%s" has no family and is terminal like UE_9000', (code) => {
    expect(declineAdvice(code)).toMatchObject({
      code,
      family: 'UE_9000',
      legacy: false,
      retry: 'never',
      customerMessage: undefined,
    });
  });
});

function codesOf(prefix: string): string[] {
  return Object.keys(DOCUMENTED_MESSAGES).filter((code) => code.startsWith(prefix));
}

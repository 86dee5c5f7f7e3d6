import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  SIGNATURE_ALGORITHM,
  SIGNATURE_DIGEST_BYTES,
  SIGNATURE_ENCODINGS,
  SIGNATURE_HEADER,
} from '../../../src/contract/signature.ts';

const DIGEST = createHmac(SIGNATURE_ALGORITHM, 'a secret of some length').update('{}').digest();

const accepting = (signature: string) =>
  SIGNATURE_ENCODINGS.filter(
    ({ length, pattern }) => signature.length === length && pattern.test(signature),
  ).map(({ encoding }) => encoding);

describe('the signature scheme', () => {
  it('names the documented header, and the same header in lower case', () => {
    expect(SIGNATURE_HEADER).toBe('X-Webhook-Signature-512');
  });

  it('names an algorithm with digests of the stated length', () => {
    expect(SIGNATURE_ALGORITHM).toBe('sha512');
    expect(DIGEST).toHaveLength(SIGNATURE_DIGEST_BYTES);
  });

  it('accepts each written form of a digest under its own encoding', () => {
    expect(accepting(DIGEST.toString('hex'))).toEqual(['hex']);
    expect(accepting(DIGEST.toString('hex').toUpperCase())).toEqual(['hex']);
    expect(accepting(DIGEST.toString('base64url'))).toEqual(['base64url']);
    expect(accepting(DIGEST.toString('base64'))).toContain('base64');
    expect(accepting(`${DIGEST.toString('base64url')}==`)).toContain('base64url');
  });

  it('lists the hexadecimal form first, because the family sends it', () => {
    expect(SIGNATURE_ENCODINGS[0]).toMatchObject({ encoding: 'hex', length: 128 });
  });

  it.each([
    ['a digest cut short', DIGEST.toString('hex').slice(2)],
    ['a prefix', `sha512=${DIGEST.toString('hex')}`],
    ['a trailing line break', `${DIGEST.toString('hex')}\n`],
    ['a shorter hash', createHmac('sha256', 'a secret').update('{}').digest('hex')],
    ['nothing', ''],
  ])('accepts no signature with %s', (_, signature) => {
    expect(accepting(signature)).toEqual([]);
    expect(SIGNATURE_ENCODINGS.filter(({ pattern }) => pattern.test(signature))).toEqual([]);
  });
});

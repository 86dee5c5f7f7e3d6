/** The vectors of test/fixtures/signatures.json were made with openssl, not with our own signer. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signBody } from '../../../src/receiver/sign.ts';
import { verifySignature } from '../../support/verifySignature.ts';

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly body_base64: string;
  readonly hex: string;
  readonly base64: string;
}

const VECTORS = (
  JSON.parse(
    readFileSync(new URL('../../fixtures/signatures.json', import.meta.url), 'utf8'),
  ) as readonly Vector[]
).map((vector) => ({ ...vector, body: Buffer.from(vector.body_base64, 'base64') }));

const SECRET = 'unit-secret-0123456789';
const BODY = Buffer.from('{"event_id":"evt_1"}');
const DIGEST = createHmac('sha512', SECRET).update(BODY).digest();
const HEX = DIGEST.toString('hex');

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');

describe.each(VECTORS)('the vector "$name"', ({ body, secret, hex, base64 }) => {
  it.each([
    ['lower-case hexadecimal', hex],
    ['upper-case hexadecimal', hex.toUpperCase()],
    ['mixed hexadecimal', hex.slice(0, 64) + hex.slice(64).toUpperCase()],
    ['base64', base64],
    ['base64url with padding', urlSafe(base64)],
    ['base64url without padding', urlSafe(base64).replaceAll('=', '')],
  ])('is verified in %s', (_, signature) => {
    expect(verifySignature(body, signature, [secret])).toEqual({
      outcome: 'verified',
      secretIndex: 0,
    });
  });

  it('is the signature that our signer creates for the body', () => {
    expect(signBody(body, secret).toString('hex')).toBe(hex);
  });

  it('is rejected with any single bit of its signature flipped', () => {
    for (let bit = 0; bit < 512; bit += 1) {
      const digest = Buffer.from(hex, 'hex');
      digest[bit >> 3] = (digest[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verifySignature(body, digest.toString('hex'), [secret])).toEqual({
        outcome: 'mismatch',
      });
    }
  });

  it('is rejected with an additional byte', () => {
    const longer = Buffer.concat([body, Buffer.from([0])]);
    expect(verifySignature(longer, hex, [secret])).toEqual({ outcome: 'mismatch' });
  });
});

describe.each(VECTORS.filter(({ body }) => body.length > 0))('the body of "$name"', (vector) => {
  const { body, secret, hex } = vector;

  it('is rejected with any single bit flipped', () => {
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const altered = Buffer.from(body);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verifySignature(altered, hex, [secret])).toEqual({ outcome: 'mismatch' });
    }
  });

  it('is rejected with a missing byte', () => {
    expect(verifySignature(body.subarray(1), hex, [secret])).toEqual({ outcome: 'mismatch' });
    expect(verifySignature(body.subarray(0, -1), hex, [secret])).toEqual({ outcome: 'mismatch' });
  });
});

it('the vectors include an empty body, which only the empty body verifies', () => {
  const empty = VECTORS.filter(({ body }) => body.length === 0);
  expect(empty).toHaveLength(1);
  for (const { secret, hex } of empty) {
    for (let byte = 0; byte < 256; byte += 1) {
      const reading = verifySignature(Buffer.from([byte]), hex, [secret]);
      expect(reading).toEqual({ outcome: 'mismatch' });
    }
  }
});

// Rule 2.
describe('the time of a verification', () => {
  const secrets = [
    'first-secret-0123456789',
    'second-secret-0123456789',
    'third-secret-0123456789',
  ];
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([0, 1, 2, undefined])(
    'reveals nothing about a secret: all are compared, in constant time, regardless of the match (%s)',
    (matching) => {
      vi.mocked(timingSafeEqual).mockClear();
      const other = ['equals', 'compare', 'indexOf', 'toString'] as const;
      const others = other.map((name) => vi.spyOn(Buffer.prototype, name));
      const secret = matching === undefined ? SECRET : (secrets[matching] ?? '');
      const signature = createHmac('sha512', secret).update(BODY).digest('hex');
      for (const spy of others) spy.mockClear();

      const { outcome } = verifySignature(BODY, signature, secrets);

      expect(outcome).toBe(matching === undefined ? 'mismatch' : 'verified');
      const compared = vi.mocked(timingSafeEqual).mock.calls.map(([a]) => Buffer.from(a as Buffer));
      const digests = secrets.map((one) => createHmac('sha512', one).update(BODY).digest());
      expect(compared).toEqual(digests);
      // A digest is not compared in any other way.
      for (const spy of others) expect(spy).not.toHaveBeenCalled();
    },
  );
});

describe('verifying a signature', () => {
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['white space', ' \t '],
  ])('reports that it is missing: %s', (_, signature) => {
    expect(verifySignature(BODY, signature, [SECRET])).toEqual({ outcome: 'missing' });
  });

  it.each([
    ['a digit short', HEX.slice(1)],
    ['a digit long', `${HEX}0`],
    ['a byte short', HEX.slice(2)],
    ['a letter that is no digit', `g${HEX.slice(1)}`],
    ['a prefix', `sha512=${HEX}`],
    ['two of them', `${HEX}, ${HEX}`],
    ['a space inside', `${HEX.slice(0, 64)} ${HEX.slice(64)}`],
    ['base64 with one padding sign', DIGEST.toString('base64').slice(0, -1)],
    ['base64 of 63 bytes', DIGEST.subarray(1).toString('base64')],
    ['base64 of 65 bytes', Buffer.concat([DIGEST, DIGEST.subarray(0, 1)]).toString('base64')],
    ['both base64 alphabets at once', `+_${'A'.repeat(84)}==`],
    ['HMAC-SHA256', createHmac('sha256', SECRET).update(BODY).digest('hex')],
    ['a letter outside ASCII', `é${HEX.slice(1)}`],
  ])('reports that it is malformed: %s', (_, signature) => {
    expect(verifySignature(BODY, signature, [SECRET])).toEqual({ outcome: 'malformed' });
  });

  it('reports that it belongs to other bytes or to another secret', () => {
    expect(verifySignature(Buffer.from('{}'), HEX, [SECRET])).toEqual({ outcome: 'mismatch' });
    expect(verifySignature(BODY, HEX, [`${SECRET}x`])).toEqual({ outcome: 'mismatch' });
  });

  it('accepts nothing without a secret', () => {
    const signedWithNothing = createHmac('sha512', '').update(BODY).digest('hex');
    expect(verifySignature(BODY, signedWithNothing, [])).toEqual({ outcome: 'mismatch' });
  });

  it('ignores white space around it, as HTTP does', () => {
    expect(verifySignature(BODY, ` ${HEX}\t`, [SECRET])).toMatchObject({ outcome: 'verified' });
  });

  it('returns the position of the secret that matched', () => {
    const secrets = ['first-secret-0123456789', SECRET, 'third-secret-0123456789'];
    expect(verifySignature(BODY, HEX, secrets)).toEqual({ outcome: 'verified', secretIndex: 1 });
  });

  it('returns the first position of a secret that is listed twice', () => {
    expect(verifySignature(BODY, HEX, [SECRET, SECRET])).toEqual({
      outcome: 'verified',
      secretIndex: 0,
    });
  });

  it('verifies any bytes under any of several secrets, and never under another one', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), {
          minLength: 2,
          maxLength: 5,
        }),
        fc.nat(),
        (bytes, secrets, pick) => {
          const body = Buffer.from(bytes);
          const place = pick % secrets.length;
          const secret = secrets[place] ?? '';
          const signature = createHmac('sha512', secret).update(body).digest('base64url');
          expect(verifySignature(body, signature, secrets)).toEqual({
            outcome: 'verified',
            secretIndex: place,
          });
          const others = secrets.filter((other) => other !== secret);
          expect(verifySignature(body, signature, others)).toEqual({ outcome: 'mismatch' });
        },
      ),
    );
  });
});

/**
 * Verifies `X-Webhook-Signature-512`: HMAC-SHA512 over the exact bytes of the body.
 * service-interface.md §5.4.
 *
 * 1. The bytes are never decoded or parsed before they are verified.
 * 2. Every secret is tried and digests of equal length are compared in constant time, so the duration
 *    reveals nothing about a secret.
 * 3. The length alone determines the encoding: hexadecimal, base64 and base64url of 64 bytes differ.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  SIGNATURE_ALGORITHM,
  SIGNATURE_DIGEST_BYTES,
  SIGNATURE_ENCODINGS,
} from '../contract/signature.ts';

export type SignatureClaim =
  | { readonly outcome: 'well_formed'; readonly digest: Buffer }
  | { readonly outcome: 'missing' | 'malformed' };

/**
 * What the header alone shows, before the body is read.
 * @param signature the header's value, if present
 */
export function readSignature(signature: string | undefined): SignatureClaim {
  if (signature === undefined || signature.trim() === '') return { outcome: 'missing' };
  const digest = decodeSignature(signature.trim());
  return digest ? { outcome: 'well_formed', digest } : { outcome: 'malformed' };
}

export type Verification =
  /** The index of the matching secret, which shows when an old one can be removed. */
  { readonly outcome: 'verified'; readonly secretIndex: number } | { readonly outcome: 'mismatch' };

/**
 * @param claimed the digest in the header
 * @param secrets one or more; any may match, so that secrets rotate without a gap
 */
export function verifyDigest(
  body: Buffer,
  claimed: Buffer,
  secrets: readonly string[],
): Verification {
  let secretIndex = -1;
  secrets.forEach((secret, index) => {
    const expected = createHmac(SIGNATURE_ALGORITHM, secret).update(body).digest();
    if (timingSafeEqual(expected, claimed) && secretIndex === -1) secretIndex = index;
  });
  return secretIndex === -1 ? { outcome: 'mismatch' } : { outcome: 'verified', secretIndex };
}

function decodeSignature(signature: string): Buffer | undefined {
  const form = SIGNATURE_ENCODINGS.find(({ pattern }) => pattern.test(signature));
  const digest = form && Buffer.from(signature, form.encoding);
  return digest?.length === SIGNATURE_DIGEST_BYTES ? digest : undefined;
}

import {
  readSignature,
  type SignatureClaim,
  type Verification,
  verifyDigest,
} from '../../src/receiver/signature.ts';

/** Reads the header and verifies the body, which the receiver does before and after it reads the body. */
export function verifySignature(
  body: Buffer,
  signature: string | undefined,
  secrets: readonly string[],
): Verification | Exclude<SignatureClaim, { readonly outcome: 'well_formed' }> {
  const claim = readSignature(signature);
  return claim.outcome === 'well_formed' ? verifyDigest(body, claim.digest, secrets) : claim;
}

/**
 * How a webhook is signed, as data: HMAC-SHA512 over the exact bytes of the body. The signer and
 * the verifier do the computation. service-interface.md §5.4.
 *
 * The contract leaves the encoding open. The family sends lower-case hexadecimal without a prefix.
 * Both alphabets of base64 are accepted too: a digest of 64 bytes has a different length in each
 * encoding, so none can be mistaken for hexadecimal.
 */

/** The header of the signature. service-interface.md §5.4. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature-512';

/** The hash inside the HMAC. service-interface.md §5.4. */
export const SIGNATURE_ALGORITHM = 'sha512';

/** Length of an HMAC-SHA512 digest. service-interface.md §5.4. */
export const SIGNATURE_DIGEST_BYTES = 64;

/** One text encoding of the digest. */
export interface SignatureEncoding {
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly length: number;
  readonly pattern: RegExp;
}

/** The encodings that a receiver accepts. The first is what the family sends. */
export const SIGNATURE_ENCODINGS = [
  { encoding: 'hex', length: 128, pattern: /^[0-9a-f]{128}$/i },
  { encoding: 'base64', length: 88, pattern: /^[A-Za-z0-9+/]{86}==$/ },
  { encoding: 'base64url', length: 86, pattern: /^[A-Za-z0-9_-]{86}$/ },
  { encoding: 'base64url', length: 88, pattern: /^[A-Za-z0-9_-]{86}==$/ },
] as const satisfies readonly SignatureEncoding[];

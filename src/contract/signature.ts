/**
 * How a webhook is signed, as data; the computing is done by those who sign and verify.
 * service-interface.md §5.4: HMAC-SHA512 over the exact bytes of the body.
 *
 * The contract leaves the encoding open. Services of this family send lower-case hexadecimal
 * without a prefix; base64 in both alphabets is accepted too, because a digest of 64 bytes has
 * another length in each of them, so that no encoding can be mistaken for hexadecimal.
 */

/** service-interface.md §5.4. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature-512';

/** The hash inside the HMAC. service-interface.md §5.4. */
export const SIGNATURE_ALGORITHM = 'sha512';

/** Length of an HMAC-SHA512 digest. service-interface.md §5.4. */
export const SIGNATURE_DIGEST_BYTES = 64;

/** One way to write the digest as text. */
export interface SignatureEncoding {
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly length: number;
  readonly pattern: RegExp;
}

/** The text forms that a receiver accepts. The first is what the family sends. */
export const SIGNATURE_ENCODINGS = [
  { encoding: 'hex', length: 128, pattern: /^[0-9a-f]{128}$/i },
  { encoding: 'base64', length: 88, pattern: /^[A-Za-z0-9+/]{86}==$/ },
  { encoding: 'base64url', length: 86, pattern: /^[A-Za-z0-9_-]{86}$/ },
  { encoding: 'base64url', length: 88, pattern: /^[A-Za-z0-9_-]{86}==$/ },
] as const satisfies readonly SignatureEncoding[];

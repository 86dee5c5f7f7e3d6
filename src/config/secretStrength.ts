/**
 * How strong a secret must be. Whoever has one signed webhook can try secrets against it without a
 * request to Tallyhook, so no rate limit protects one that is short or repetitive.
 */
const MIN_SECRET_BYTES = 32;

/** Rejects placeholders such as `xxxx…`; 32 random hexadecimal digits practically always have more. */
const MIN_DIFFERENT_CHARACTERS = 8;

/** @returns what is wrong with the secret, without its value; undefined if it is strong enough */
export function secretWeakness(secret: string): string | undefined {
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) {
    return `must be at least ${MIN_SECRET_BYTES} bytes long; \`openssl rand -hex 32\` makes one`;
  }
  if (new Set(secret).size < MIN_DIFFERENT_CHARACTERS) {
    return `must have at least ${MIN_DIFFERENT_CHARACTERS} different characters; \`openssl rand -hex 32\` makes one`;
  }
  return undefined;
}

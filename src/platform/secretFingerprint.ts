/**
 * A short name of a signing secret, which can be stored and shown: 32 bits of a hash. The position in
 * WEBHOOK_SECRETS changes when a secret is added in front; the fingerprint does not.
 * docs/decisions/0103-secret-fingerprints.md
 */
import { createHash } from 'node:crypto';

/** Apart from every other hash of a secret. */
const PURPOSE = 'tallyhook secret fingerprint\n';

/** @returns a signed integer of 32 bits, as PostgreSQL stores it */
export function secretFingerprint(secret: string): number {
  return createHash('sha256').update(PURPOSE).update(secret).digest().readInt32BE(0);
}

/** For people: eight hexadecimal digits. */
export function formatFingerprint(fingerprint: number): string {
  return (fingerprint >>> 0).toString(16).padStart(8, '0');
}

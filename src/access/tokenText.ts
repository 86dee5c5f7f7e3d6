/**
 * The text of a token and its digest.
 *
 * 1. A token is 32 random bytes after a prefix. The prefix lets secret scanners find tokens in places
 *    where none should be, and names the role for people; the database decides which role it has.
 * 2. Tallyhook keeps the SHA-256 of the text. Slow password hashes protect secrets that can be guessed;
 *    nobody guesses 256 random bits, so a fast hash is as safe and can be computed for every request.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Role } from './domain/roles.ts';

const TOKEN_BYTES = 32;

export function createTokenText(role: Role): string {
  return `thk_${role}_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

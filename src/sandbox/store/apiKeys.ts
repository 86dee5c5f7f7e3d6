/** What is stored of API keys as resources; account.ts has them as they authenticate. */
import type { ApiKeyState } from '../domain/apiKey.ts';
import type { Page } from './page.ts';

export interface ApiKeyStatements {
  /** Adds a secret key. @param sha256 of the key, which is not stored */
  insertApiKey(state: ApiKeyState, sha256: Buffer): Promise<void>;
  /** Reads a key that is not revoked. */
  readApiKey(keyId: string): Promise<ApiKeyState | undefined>;
  /** The same, locked until the transaction ends. */
  lockApiKey(keyId: string): Promise<ApiKeyState | undefined>;
  /** Writes a changed key, which is locked by the caller. */
  updateApiKey(state: ApiKeyState): Promise<void>;
  /** @param at ISO 8601. @returns false when there is no such key, or it was revoked before */
  revokeApiKey(keyId: string, at: string): Promise<boolean>;
  /** One page, newest first, without those that are revoked. */
  listApiKeys(page: Page): Promise<readonly ApiKeyState[]>;
  /** How many there are in all, without those that are revoked. */
  countApiKeys(): Promise<number>;
}

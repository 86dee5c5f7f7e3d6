/** What is stored of the account: its clock, and the keys as they authenticate. */
export interface AccountStatements {
  /** Whether nothing is stored that has a time of the sandbox's clock. */
  isEmpty(): Promise<boolean>;
  /** How far the clock is ahead of the machine's, in milliseconds; negative when it is behind. */
  readAdvance(): Promise<number>;
  storeAdvance(advanceMs: number): Promise<void>;
  /** Adds a key, or restores a revoked one: the key of the settings must work. */
  upsertKey(key: NewKey): Promise<void>;
  readKey(sha256: Buffer): Promise<StoredKey | undefined>;
  /** @param key `at`: ISO 8601. @returns false when there is no such key */
  revokeKey(key: { readonly sha256: Buffer; readonly at: string }): Promise<boolean>;
}

export type KeyKind = 'secret' | 'publishable' | 'admin';

export interface NewKey {
  readonly sha256: Buffer;
  readonly kind: KeyKind;
}

export interface StoredKey {
  readonly kind: KeyKind;
  readonly isRevoked: boolean;
  /** Null for never. */
  readonly expiresAt: Date | null;
}

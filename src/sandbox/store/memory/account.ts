/** The clock and the keys as they authenticate, in memory. */
import type { NewKey, StoredKey } from '../account.ts';
import type { KeyRow, Tables } from './tables.ts';

export function isEmpty({ resources, customers, paymentLinks, keys }: Tables): boolean {
  const isOwn = ({ state }: KeyRow): boolean => state !== undefined;
  const isUsed = [resources, customers, paymentLinks].some((table) => [...table.all()].length > 0);
  return !isUsed && ![...keys.all()].some(isOwn);
}

export function readAdvance({ account }: Tables): number {
  return account.get('')?.advanceMs ?? 0;
}

export function storeAdvance({ account }: Tables, advanceMs: number): void {
  account.put({ advanceMs });
}

export function upsertKey({ keys }: Tables, { sha256, kind }: NewKey): void {
  const id = sha256.toString('hex');
  keys.put({ sha256: id, kind, ...keys.get(id), isRevoked: false });
}

export function readKey({ keys }: Tables, sha256: Buffer): StoredKey | undefined {
  const row = keys.get(sha256.toString('hex'));
  if (row === undefined) return undefined;
  const { kind, isRevoked, state } = row;
  return { kind, isRevoked, expiresAt: state?.expiration ? new Date(state.expiration) : null };
}

export function revokeKey({ keys }: Tables, { sha256 }: { readonly sha256: Buffer }): boolean {
  const row = keys.get(sha256.toString('hex'));
  if (row !== undefined) keys.put({ ...row, isRevoked: true });
  return row !== undefined;
}

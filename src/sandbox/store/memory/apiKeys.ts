/** API keys as resources, in memory. */
import type { ApiKeyState } from '../../domain/apiKey.ts';
import type { Page } from '../page.ts';
import type { KeyRow, Tables } from './tables.ts';
import { frozenJson, sortedBy } from './values.ts';

export function insertApiKey({ keys }: Tables, state: ApiKeyState, sha256: Buffer): void {
  keys.put({
    sha256: sha256.toString('hex'),
    kind: 'secret',
    isRevoked: false,
    state: frozenJson(state),
  });
}

export function readApiKey(tables: Tables, keyId: string): ApiKeyState | undefined {
  return findKey(tables, keyId)?.state;
}

/** Transactions run one at a time: nothing needs a lock. */
export function lockApiKey(tables: Tables, keyId: string): ApiKeyState | undefined {
  return readApiKey(tables, keyId);
}

export function updateApiKey(tables: Tables, state: ApiKeyState): void {
  const row = findKey(tables, state.key_id);
  if (row) tables.keys.put({ ...row, state: frozenJson(state) });
}

export function revokeApiKey(tables: Tables, keyId: string): boolean {
  const row = findKey(tables, keyId);
  if (row) tables.keys.put({ ...row, isRevoked: true });
  return row !== undefined;
}

export function listApiKeys(tables: Tables, { limit, offset }: Page): readonly ApiKeyState[] {
  const states = ownKeys(tables);
  const sorted = sortedBy(states, ({ created, key_id: id }) => [created, id]);
  return sorted.toReversed().slice(offset, offset + limit);
}

export function countApiKeys(tables: Tables): number {
  return ownKeys(tables).length;
}

function findKey({ keys }: Tables, keyId: string): KeyRow | undefined {
  return [...keys.find('id', keyId)].find(({ isRevoked }) => !isRevoked);
}

function ownKeys({ keys }: Tables): readonly ApiKeyState[] {
  return [...keys.all()].flatMap(({ state, isRevoked }) => (state && !isRevoked ? [state] : []));
}

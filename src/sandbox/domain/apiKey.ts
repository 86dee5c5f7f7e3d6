/**
 * API keys as the account sees them. service-interface.md §2.8.
 *
 * 1. The key itself is shown once and stored as a hash only.
 * 2. A revoked key is neither listed nor found.
 * 3. A key is rejected from its expiration on, which can be moved to a later time.
 */
import { accept, type Decision, rejectValue } from './decision.ts';
import { isoBound } from './time.ts';

export interface ApiKeyState {
  readonly key_id: string;
  readonly name: string;
  readonly description: string | null;
  /** The beginning of the key, which identifies it to people. */
  readonly prefix: string;
  /** ISO 8601. */
  readonly created: string;
  /** ISO 8601; null for never. */
  readonly expiration: string | null;
}

export interface ApiKeyFields {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly expiration?: string | undefined;
}

/** Changes the fields that are sent; the others stay. */
export function changeApiKey(
  state: ApiKeyState,
  fields: ApiKeyFields,
  nowMs: number,
): Decision<ApiKeyState> {
  const { name = state.name, description = state.description, expiration } = fields;
  if (expiration === undefined) return accept({ ...state, name, description });
  const at = expiration === 'never' ? null : isoBound(expiration, Math.floor);
  if (at !== null && Date.parse(at) <= nowMs) return rejectValue('expiration: has passed already');
  return accept({ ...state, name, description, expiration: at });
}

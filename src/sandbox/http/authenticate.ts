/** Authentication and permissions of API keys. service-interface.md §5. */
import { createHash } from 'node:crypto';
import { API_KEY_HEADER, type ApiKeyKind, type Endpoint, keyKindOf } from '../../contract/index.ts';
import { accept, type Decision, type Rejection } from '../domain/decision.ts';
import type { Services } from '../services.ts';

export interface Caller {
  /** The key's hash, by which its requests are counted. */
  readonly name: string;
  readonly kind: ApiKeyKind;
}

export function hashKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

export async function identify(
  { store, shownClock }: Pick<Services, 'store' | 'shownClock'>,
  apiKey: string | undefined,
): Promise<Decision<Caller>> {
  if (apiKey === undefined || apiKey === '') {
    return reject('AU_01', `The header ${API_KEY_HEADER} is missing.`);
  }
  const sha256 = hashKey(apiKey);
  const key = await store.readKey(sha256);
  const kind = keyKindOf(apiKey);
  if (key === undefined || kind === undefined) {
    const isProduction = kind === 'productionSecret' || kind === 'productionPublishable';
    const hint = isProduction ? ' It is a production key; this is a sandbox.' : '';
    return reject('AU_01', `The API key is not valid.${hint}`);
  }
  if (key.isRevoked) return reject('AU_02', 'The API key was revoked.');
  if (key.expiresAt !== null && key.expiresAt.getTime() <= shownClock.nowMs()) {
    return reject('AU_01', 'The API key has expired.');
  }
  return accept({ name: sha256.toString('hex'), kind });
}

/** @returns why the caller may not use the endpoint; undefined where it may */
export function forbid({ kind }: Caller, { keys, path }: Endpoint): Rejection | undefined {
  if (keys.includes(kind)) return undefined;
  return { status: 403, code: 'IR_22', message: `Keys of this kind may not use ${path}.` };
}

function reject(code: 'AU_01' | 'AU_02', message: string): { readonly rejection: Rejection } {
  return { rejection: { status: 401, code, message } };
}

/** Who asks, and what they may. Interface document, section Authentication. */
import { createHash } from 'node:crypto';
import { API_KEY_HEADER, type Endpoint, keyKindOf } from '../../contract/index.ts';
import type { Decision, Refusal } from '../domain/decision.ts';
import type { Services } from '../services.ts';
import { readKey } from '../store/account.ts';

export function hashKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

/** @returns a name for the key that is not the key, to count its requests by */
export async function authenticate(
  { clock, db }: Pick<Services, 'clock' | 'db'>,
  apiKey: string | undefined,
  endpoint: Endpoint,
): Promise<Decision<string>> {
  if (apiKey === undefined || apiKey === '') {
    return refuse(401, 'AU_01', `The header ${API_KEY_HEADER} is missing.`);
  }
  const sha256 = hashKey(apiKey);
  const key = await readKey(db, sha256);
  const kind = keyKindOf(apiKey);
  if (key === undefined || kind === undefined) {
    const isProduction = kind === 'productionSecret' || kind === 'productionPublishable';
    const hint = isProduction ? ' It is a production key; this is a sandbox.' : '';
    return refuse(401, 'AU_01', `The API key is not valid.${hint}`);
  }
  if (key.isRevoked) return refuse(401, 'AU_02', 'The API key was revoked.');
  if (key.expiresAt !== null && key.expiresAt.getTime() <= clock.nowMs()) {
    return refuse(401, 'AU_01', 'The API key has expired.');
  }
  if (!endpoint.keys.includes(kind)) {
    return refuse(403, 'IR_22', `A ${key.kind} key may not use ${endpoint.path}.`);
  }
  return { state: sha256.toString('hex') };
}

function refuse(
  status: 401 | 403,
  code: Refusal['code'],
  message: string,
): { readonly refusal: Refusal } {
  return { refusal: { status, code, message } };
}

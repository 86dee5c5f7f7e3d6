/** Lists the business profiles of the service and compares their secrets with WEBHOOK_SECRETS. */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type BusinessProfile,
  type PaymentServiceClient,
  PaymentServiceError,
} from '../client/index.ts';
import { toError } from '../platform/errors.ts';
import type { ProfilesResult, SecretComparison } from './domain/judgeProfiles.ts';

/** @param secrets those of WEBHOOK_SECRETS */
export async function listProfiles(
  client: PaymentServiceClient,
  merchantId: string,
  secrets: readonly string[],
): Promise<ProfilesResult> {
  try {
    const profiles = await client.businessProfiles.list(merchantId);
    return {
      kind: 'profiles',
      profiles: profiles.map((profile) => ({
        profileId: profile.profile_id,
        details: profile.webhook_details,
        secret: compareSecret(profile, secrets),
      })),
    };
  } catch (error) {
    if (!(error instanceof PaymentServiceError)) throw error;
    if (error.httpStatus === 404) return { kind: 'absent' };
    return {
      kind: 'not_requested',
      reason: `the business profiles could not be listed (${toError(error).message})`,
      remedy: 'Fix the API key check first; then try again.',
    };
  }
}

/** A service may omit the secret or mask it with asterisks. */
function compareSecret(
  { payment_response_hash_key: shown }: BusinessProfile,
  secrets: readonly string[],
): SecretComparison {
  if (shown === undefined || shown === null || /^$|\*{3}/.test(shown)) return 'hidden';
  // Compares digests, which have one length, with every secret, so that timing reveals nothing.
  const digest = digestOf(shown);
  const matches = secrets.map((secret) => timingSafeEqual(digestOf(secret), digest));
  return matches.includes(true) ? matches.indexOf(true) + 1 : 'other';
}

function digestOf(secret: string): Buffer {
  return createHash('sha512').update(secret).digest();
}

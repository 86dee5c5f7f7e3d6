/** What follows from the settings, and what to say where they contradict each other. */

import type { Config, NamedToken } from '../config/config.ts';
import { localSecret } from '../config/localSecrets.ts';
import { API_KEY_PREFIXES } from '../contract/limits.ts';
import { OperatorError } from '../platform/errors.ts';
import type { RateSettings } from '../reconcile/domain/backgroundRate.ts';
import { SANDBOX_MERCHANT_ID } from '../sandbox/safety.ts';

/**
 * Whether the sandbox is the payment service here: nobody named another one, and nothing real is kept
 * in the embedded database.
 */
export function usesSandbox(config: Config): boolean {
  const { databaseUrl, apiKey, baseUrl, merchantId = SANDBOX_MERCHANT_ID } = config;
  const namesNoService = apiKey === undefined && baseUrl === undefined;
  return databaseUrl === undefined && namesNoService && merchantId === SANDBOX_MERCHANT_ID;
}

/** The merchant account that the settings name; the sandbox's where nothing real can be meant. */
export function merchantIdOf(config: Config): string {
  const { apiKey, merchantId } = config;
  if (merchantId === SANDBOX_MERCHANT_ID && isProductionKey(apiKey)) {
    throw new OperatorError(
      `PAYMENTS_MERCHANT_ID is ${SANDBOX_MERCHANT_ID}, the account of the sandbox, but PAYMENTS_API_KEY ` +
        'is a production key. Real payments must not meet invented ones: set your own merchant id.',
    );
  }
  if (merchantId !== undefined) return merchantId;
  if (config.databaseUrl === undefined && apiKey === undefined) return SANDBOX_MERCHANT_ID;
  const reason = apiKey === undefined ? 'DATABASE_URL' : 'PAYMENTS_API_KEY';
  throw new OperatorError(
    `PAYMENTS_MERCHANT_ID is not set. With ${reason} it must be, because the books of one ` +
      'database belong to one merchant account. Set it to your merchant id.',
  );
}

export function isProductionKey(apiKey: string | undefined): boolean {
  return apiKey?.startsWith(API_KEY_PREFIXES.productionSecret) ?? false;
}

/** Secrets that verify webhooks: those set, or the one generated for the embedded database. */
export function webhookSecretsOf(config: Config): readonly string[] {
  if (config.webhookSecrets !== undefined) return config.webhookSecrets;
  if (config.databaseUrl === undefined) return [localSecret(config.dataDir, 'webhook-secret')];
  throw new OperatorError(
    'WEBHOOK_SECRETS is not set. Without it no webhook can be verified. Set it to the signing ' +
      'secret of your business profile; several are separated by commas.',
  );
}

/** Tokens of the admin port: those set, or the one generated for the embedded database. */
export function adminTokensOf(config: Config): readonly NamedToken[] {
  if (config.adminTokens !== undefined) return config.adminTokens;
  if (config.databaseUrl === undefined) {
    return [{ name: 'admin', token: localSecret(config.dataDir, 'admin-token') }];
  }
  throw new OperatorError(
    'ADMIN_TOKEN is not set. The admin port refuses every request without one. ' +
      'Set it to a long random value, for example from `openssl rand -hex 32`.',
  );
}

/** Where the payment service is and the key for it; undefined when no key is set. */
export function serviceOf(
  config: Config,
): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  if (usesSandbox(config)) {
    const apiKey = localSecret(config.dataDir, 'sandbox-api-key', 'snd_');
    return { baseUrl: `http://127.0.0.1:${config.sandboxPort}`, apiKey };
  }
  const { baseUrl, apiKey } = config;
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
}

/** What operators set on the rate budget. */
export function rateSettingsOf(config: Config): RateSettings {
  const { rateReservePercent: reservePercent, backgroundRequestsPerMinute } = config;
  return { reservePercent, backgroundPerMinute: backgroundRequestsPerMinute };
}

/** Values derived from the settings, and the errors about settings that contradict each other. */

import type { Config } from '../config/config.ts';
import { localSecret } from '../config/localSecrets.ts';
import { API_KEY_PREFIXES } from '../contract/limits.ts';
import { type ChainKey, chainKeyOf } from '../ledger/chain/chainKey.ts';
import { UsageError } from '../platform/errors.ts';
import type { RateSettings } from '../reconcile/domain/backgroundRate.ts';
import { SANDBOX_MERCHANT_ID } from '../sandbox/account.ts';
import { type PlannedSchedule, plannedSchedules } from '../scheduler/domain/timetable.ts';

/**
 * Whether this installation uses the sandbox as its payment service: no other service is configured,
 * and the embedded database has no real payments.
 */
export function usesSandbox(config: Config): boolean {
  const { databaseUrl, apiKey, baseUrl, merchantId = SANDBOX_MERCHANT_ID } = config;
  const namesNoService = apiKey === undefined && baseUrl === undefined;
  return databaseUrl === undefined && namesNoService && merchantId === SANDBOX_MERCHANT_ID;
}

/** The configured merchant account, or the sandbox's if the settings name no real service. */
export function merchantIdOf(config: Config): string {
  const { apiKey, merchantId } = config;
  if (merchantId === SANDBOX_MERCHANT_ID && isProductionKey(apiKey)) {
    throw new UsageError(
      `PAYMENTS_MERCHANT_ID is ${SANDBOX_MERCHANT_ID}, the account of the sandbox, but PAYMENTS_API_KEY ` +
        'is a production key. Real payments must not mix with test payments: set your own merchant id.',
    );
  }
  if (merchantId !== undefined) return merchantId;
  if (config.databaseUrl === undefined && apiKey === undefined) return SANDBOX_MERCHANT_ID;
  const reason = apiKey === undefined ? 'DATABASE_URL' : 'PAYMENTS_API_KEY';
  throw new UsageError(
    `PAYMENTS_MERCHANT_ID is not set. With ${reason} it is required, because the ledger of one ` +
      'database belongs to one merchant account. Set it to your merchant id.',
  );
}

export function isProductionKey(apiKey: string | undefined): boolean {
  return apiKey?.startsWith(API_KEY_PREFIXES.productionSecret) ?? false;
}

/**
 * Secrets that verify webhooks: the configured ones, or the one generated for the embedded database. The
 * sandbox's is among them where the ledger is the sandbox's, and nowhere else: whoever can use the
 * sandbox can have it sign an event.
 * @param hasSandbox whether this process runs the sandbox
 */
export function webhookSecretsOf(config: Config, hasSandbox = false): readonly string[] {
  const ownSecrets = ownWebhookSecretsOf(config);
  const knowsSandbox = hasSandbox || config.sandboxWebhookSecret !== undefined;
  const acceptsSandbox =
    usesSandbox(config) || (knowsSandbox && config.merchantId === SANDBOX_MERCHANT_ID);
  return acceptsSandbox ? [...ownSecrets, sandboxSecretOf(config)] : ownSecrets;
}

/** The secret with which the sandbox signs. It is never one of the secrets of the payment service. */
export function sandboxSecretOf({ dataDir, sandboxWebhookSecret }: Config): string {
  return sandboxWebhookSecret ?? localSecret(dataDir, 'sandbox-webhook-secret');
}

function ownWebhookSecretsOf(config: Config): readonly string[] {
  if (config.webhookSecrets !== undefined) return config.webhookSecrets;
  if (config.databaseUrl === undefined) return [localSecret(config.dataDir, 'webhook-secret')];
  throw new UsageError(
    'WEBHOOK_SECRETS is not set. Without it, Tallyhook cannot verify webhooks. Set it to the signing ' +
      'secret of your business profile; several are separated by commas.',
  );
}

/** The first token of the admin port: the configured one, or the one generated for the embedded database. */
export function adminTokenOf(config: Config): string {
  if (config.adminToken !== undefined) return config.adminToken;
  if (config.databaseUrl === undefined) return localSecret(config.dataDir, 'admin-token');
  throw new UsageError(
    'ADMIN_TOKEN is not set. It is the first token of the admin port, with the role admin. ' +
      'Set it to a long random value, for example from `openssl rand -hex 32`.',
  );
}

/**
 * The key that signs the chain of the journal: from CHAIN_KEY, or from the secret generated for the embedded
 * database. Undefined where neither is: the chain is not signed.
 */
export function signingKeyOf({ chainKey, databaseUrl, dataDir }: Config): ChainKey | undefined {
  if (chainKey !== undefined) return chainKeyOf(chainKey);
  return databaseUrl === undefined ? chainKeyOf(localSecret(dataDir, 'chain-key')) : undefined;
}

/** The base URL and key of the payment service; undefined when no key is set. */
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

/**
 * The sandbox that this installation uses as its payment service; undefined where the payments are or may
 * be real: with another account, a production key, or a service that is not on this machine.
 */
export function sandboxOf(config: Config): ReturnType<typeof serviceOf> {
  const service = serviceOf(config);
  if (service === undefined || isProductionKey(config.apiKey)) return undefined;
  if (usesSandbox(config)) return service;
  const { hostname } = new URL(service.baseUrl);
  return config.merchantId === SANDBOX_MERCHANT_ID && LOOPBACK.test(hostname) ? service : undefined;
}

/** The sandbox listens on loopback only. */
const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])$/;

/** The settings of the rate budget. */
export function rateSettingsOf(config: Config): RateSettings {
  const { rateReservePercent: reservePercent, backgroundRequestsPerMinute } = config;
  return { reservePercent, backgroundPerMinute: backgroundRequestsPerMinute };
}

/** The schedules of this installation. */
export function schedulesOf(config: Config): readonly PlannedSchedule[] {
  const { alertSummaryHour: summaryHour } = config;
  return plannedSchedules({ isReconciling: serviceOf(config) !== undefined, summaryHour });
}

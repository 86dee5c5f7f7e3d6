/** What a receiver in another process needs to use the sandbox of this one: where it is sent to, and settings. */
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { localUrl } from '../platform/httpServer.ts';

type SandboxSettings = Pick<
  Config,
  'apiKey' | 'dataDir' | 'host' | 'port' | 'sandboxWebhookSecret' | 'webhookPath'
>;

interface SandboxFacts {
  readonly baseUrl: string;
  readonly merchantId: string;
}

/** Secrets are not printed, only where to find them. */
export function receiverSettingLines(
  { apiKey, dataDir, host, port, sandboxWebhookSecret, webhookPath }: SandboxSettings,
  { baseUrl, merchantId }: SandboxFacts,
): readonly string[] {
  const secret = (name: string, value: string | undefined, file: string) =>
    value === undefined
      ? `${name}_FILE=${resolve(dataDir, file)}`
      : `${name}, with the value that it has here`;
  return [
    `The sandbox sends webhooks to ${localUrl(host, port)}${webhookPath}; PORT and WEBHOOK_PATH change that.`,
    'A receiver in another process needs these settings:',
    `  PAYMENTS_BASE_URL=${baseUrl}`,
    `  PAYMENTS_MERCHANT_ID=${merchantId}`,
    `  ${secret('PAYMENTS_API_KEY', apiKey, 'sandbox-api-key')}`,
    `  ${secret('SANDBOX_WEBHOOK_SECRET', sandboxWebhookSecret, 'sandbox-webhook-secret')}`,
    ...(apiKey === undefined && sandboxWebhookSecret === undefined
      ? [
          'Without DATABASE_URL, and with the same DATA_DIR and SANDBOX_PORT, it needs none of them.',
        ]
      : []),
  ];
}

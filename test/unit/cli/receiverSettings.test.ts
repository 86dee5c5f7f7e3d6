/** The banner of the sandbox names what a receiver in another process needs, and no secret. */
import { expect, test } from 'vitest';
import { receiverSettingLines } from '../../../src/cli/receiverSettings.ts';

const SETTINGS = {
  apiKey: undefined,
  sandboxWebhookSecret: undefined,
  dataDir: '/srv/tallyhook',
  host: '127.0.0.1',
  port: 8080,
  webhookPath: '/webhooks',
};
const SANDBOX = { baseUrl: 'http://127.0.0.1:8082', merchantId: 'merchant_local' };

test('address, account, and the files of the key and of the secret that signs webhooks', () => {
  const lines = receiverSettingLines(SETTINGS, SANDBOX);
  expect(lines[0]).toContain('sends webhooks to http://127.0.0.1:8080/webhooks');
  expect(lines.slice(2, 6)).toEqual([
    '  PAYMENTS_BASE_URL=http://127.0.0.1:8082',
    '  PAYMENTS_MERCHANT_ID=merchant_local',
    '  PAYMENTS_API_KEY_FILE=/srv/tallyhook/sandbox-api-key',
    '  SANDBOX_WEBHOOK_SECRET_FILE=/srv/tallyhook/sandbox-webhook-secret',
  ]);
});

test('a key and a secret of the settings are named, and not printed', () => {
  const [apiKey, sandboxWebhookSecret] = ['snd_of_the_settings', 'secret-of-the-settings'];
  const lines = receiverSettingLines({ ...SETTINGS, apiKey, sandboxWebhookSecret }, SANDBOX);
  expect(lines.slice(4, 6)).toEqual([
    '  PAYMENTS_API_KEY, with the value that it has here',
    '  SANDBOX_WEBHOOK_SECRET, with the value that it has here',
  ]);
  expect(lines.join('\n')).not.toMatch(/of.the.settings/);
});

/** A sandbox with its own database, used over HTTP as by any other client. */
import { randomBytes } from 'node:crypto';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/startSandbox.ts';
import { createSandboxDatabase, silentLog } from './database.ts';
import { createServiceApi, type ServiceApi } from './serviceApi.ts';
import { startWebhookListener, type WebhookListener } from './webhookListener.ts';

export const SANDBOX_SECRET = 'sandbox-secret-0123456789abcdefghijkl';

export interface TestSandbox extends ServiceApi {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profileId: string;
  readonly merchantId: string;
  readonly databaseUrl: string;
  readonly listener: WebhookListener;
  /** Advances the sandbox's clock and runs everything due by then. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type TestSandboxOptions = Partial<
  Pick<
    SandboxOptions,
    'clock' | 'databaseUrl' | 'faults' | 'requestsPerMinute' | 'startAtMs' | 'webhookTimeoutMs'
  >
>;

export async function startTestSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const own = options.databaseUrl === undefined ? await createSandboxDatabase() : undefined;
  const databaseUrl = own?.url ?? options.databaseUrl ?? '';
  const listener = await startWebhookListener();
  const sandbox = await startSandbox({
    port: 0,
    apiKey: `snd_${randomBytes(32).toString('hex')}`,
    webhook: { url: listener.url, secret: SANDBOX_SECRET },
    log: silentLog,
    // High enough not to matter; tests of the rate limit set their own.
    requestsPerMinute: 1_000_000,
    ...options,
    databaseUrl,
  });
  const api = createServiceApi(sandbox);
  return {
    ...sandbox,
    ...api,
    databaseUrl,
    listener,
    advance: async (ms) => {
      await api.control('POST', '/clock/advance', { ms });
    },
    close: async () => {
      await sandbox.close();
      await listener.close();
      await own?.drop();
    },
  };
}

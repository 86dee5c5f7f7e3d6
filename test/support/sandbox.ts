/**
 * A sandbox with its own data, used over HTTP as by any other client: in a database, or in memory for the
 * tests that run with TEST_SANDBOX_STORE=memory (vitest.config.ts).
 */
import { randomBytes } from 'node:crypto';
import { startExpressServer } from '../../src/platform/expressServer.ts';
import { type AssemblyOptions, assembleSandbox } from '../../src/sandbox/assemble.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/startSandbox.ts';
import { createMemoryStore } from '../../src/sandbox/store/memory/store.ts';
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

/** For tests that read or write the sandbox's database. */
export const isInMemory = process.env.TEST_SANDBOX_STORE === 'memory';

export async function startTestSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const needsDatabase = !isInMemory && options.databaseUrl === undefined;
  const own = needsDatabase ? await createSandboxDatabase() : undefined;
  const databaseUrl = own?.url ?? options.databaseUrl ?? '';
  const listener = await startWebhookListener();
  const all = {
    port: 0,
    apiKey: `snd_${randomBytes(32).toString('hex')}`,
    webhook: { url: listener.url, secret: SANDBOX_SECRET },
    log: silentLog,
    // High enough not to matter; tests of the rate limit set their own.
    requestsPerMinute: 1_000_000,
    ...options,
    databaseUrl,
  };
  const sandbox = isInMemory ? await startInMemory(all) : await startSandbox(all);
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

type StartedSandbox = Pick<
  TestSandbox,
  'apiKey' | 'baseUrl' | 'close' | 'merchantId' | 'profileId'
>;

async function startInMemory(
  options: AssemblyOptions & { readonly startAtMs?: number | undefined },
): Promise<StartedSandbox> {
  let baseUrl = '';
  const store = createMemoryStore();
  const { services, app } = await assembleSandbox(options, { store, baseUrl: () => baseUrl });
  const { account, engine } = services;
  if (options.startAtMs !== undefined) await engine.startAt(options.startAtMs);
  const server = await startExpressServer({ host: '127.0.0.1', port: 0, app, portSetting: '' });
  baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    baseUrl,
    apiKey: options.apiKey,
    ...account,
    close: async () => {
      await engine.close();
      await server.close();
    },
  };
}

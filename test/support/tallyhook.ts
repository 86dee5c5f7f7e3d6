/** Tallyhook in this process, with its own database and on free ports. */
import { defaultRoles, type Role } from '../../src/assembly/roles.ts';
import { type Running, start } from '../../src/assembly/start.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Log } from '../../src/platform/log.ts';
import { silentLog, type TestDatabase } from './database.ts';
import { MERCHANT_ID, SECRET, sign } from './events.ts';
import { databaseSettings } from './pgBouncer.ts';

export const ADMIN_TOKEN = 'admin-token-0123456789abcdefghijkl';

/** Settings of a complete installation but for its databases, on free ports. */
export const INSTALLATION_SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '0',
  ADMIN_PORT: '0',
  METRICS_PORT: '0',
  ADMIN_TOKEN,
  WEBHOOK_SECRETS: SECRET,
  PAYMENTS_MERCHANT_ID: MERCHANT_ID,
} as const;

export interface TestTallyhook extends Running {
  readonly webhookUrl: string;
  /** Base URL of the health port. */
  readonly healthUrl: string;
  /** Delivers a body with a valid signature, or with the given headers. */
  deliver(body: Buffer, headers?: Record<string, string>): Promise<Response>;
}

export interface TestTallyhookOptions {
  readonly db: Pick<TestDatabase, 'url'>;
  readonly redisUrl?: string | undefined;
  readonly roles?: readonly Role[];
  readonly env?: Readonly<Record<string, string>>;
  /** Without one, nothing is logged. */
  readonly log?: Log;
}

export async function startTallyhook(options: TestTallyhookOptions): Promise<TestTallyhook> {
  const config = loadConfig({
    ...databaseSettings(options.db.url),
    REDIS_URL: options.redisUrl,
    ...INSTALLATION_SETTINGS,
    ...options.env,
  });
  const running = await start(config, new Set(options.roles ?? defaultRoles(config)), {
    machine: systemClock,
    log: options.log ?? silentLog,
  });
  const webhookUrl = `http://127.0.0.1:${running.receiverPort}/webhooks`;
  return {
    ...running,
    webhookUrl,
    healthUrl: `http://127.0.0.1:${running.healthPort}`,
    deliver: (body, headers = { 'X-Webhook-Signature-512': sign(body) }) =>
      fetch(webhookUrl, { method: 'POST', headers, body: new Uint8Array(body) }),
  };
}

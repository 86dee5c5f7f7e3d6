/** The addresses of what was started, for people and for programs. */
import type { Running } from '../assembly/start.ts';
import type { Config } from '../config/config.ts';
import { localUrl } from '../platform/httpServer.ts';
import { printLine } from './invocation.ts';

export function describe(config: Config, running: Running): object {
  return {
    webhook_url: webhookUrl(config, running) ?? null,
    admin_url: adminUrl(config, running) ?? null,
    health_url: healthUrl(config, running) ?? null,
    sandbox_url: running.sandbox?.baseUrl ?? null,
    database: running.isEmbedded ? config.dataDir : 'DATABASE_URL',
    queues: config.redisUrl === undefined ? 'postgres' : 'redis',
  };
}

export async function printBanner(config: Config, running: Running): Promise<void> {
  const signIn = await signInUrl(config, running);
  const lines = [
    ['Webhooks', webhookUrl(config, running)],
    ['Admin', adminUrl(config, running)],
    ['Console', signIn && `${signIn} (signs in once, within five minutes)`],
    ['Health', healthPages(healthUrl(config, running))],
    ['Payments', running.sandbox && `sandbox at ${running.sandbox.baseUrl} (no real money)`],
    ['Database', running.isEmbedded ? `embedded, in ${config.dataDir}` : 'DATABASE_URL'],
    ['Queues', config.redisUrl === undefined ? 'in the database' : 'Redis'],
  ];
  if (running.isEmbedded) {
    const own =
      config.webhookSecrets === undefined ? `${config.dataDir}/webhook-secret` : undefined;
    const token = config.adminToken === undefined ? `${config.dataDir}/admin-token` : undefined;
    const apiKey = running.sandbox && `${config.dataDir}/sandbox-api-key`;
    lines.push(['Webhook secret', own], ['Admin token', token], ['Sandbox key', apiKey]);
  }
  printLine('Tallyhook is running.');
  for (const [name, value] of lines) if (value) printLine(`  ${name?.padEnd(15)} ${value}`);
}

/**
 * Only with the embedded database, where the token is a file beside it: elsewhere the output may go to a
 * log that more people read than may administer.
 */
export async function signInUrl(
  config: Config,
  running: Running,
  /** Where the link leads. */
  next?: string,
): Promise<string | undefined> {
  const base = adminUrl(config, running);
  if (base === undefined || !running.isEmbedded) return undefined;
  const path = await running.createSignInPath(next);
  return path && `${base}${path}`;
}

function webhookUrl(config: Config, { receiverPort }: Running): string | undefined {
  return receiverPort === undefined
    ? undefined
    : `${localUrl(config.host, receiverPort)}${config.webhookPath}`;
}

function healthUrl(config: Config, { healthPort }: Running): string | undefined {
  return healthPort === undefined ? undefined : localUrl(config.metricsHost, healthPort);
}

function healthPages(url: string | undefined): string | undefined {
  return url && `${url}/readyz (also /healthz and /metrics)`;
}

function adminUrl(config: Config, { consolePort }: Running): string | undefined {
  return consolePort === undefined ? undefined : localUrl(config.adminHost, consolePort);
}

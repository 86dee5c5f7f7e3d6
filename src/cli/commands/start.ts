import { Command, InvalidArgumentError } from 'commander';
import { defaultRoles, ROLES, type Role, type Running, start } from '../../assembly.ts';
import type { Config } from '../../platform/config.ts';
import { createLog } from '../../platform/log.ts';
import { runUntilSignal } from '../../platform/shutdown.ts';
import { printJson, readConfig } from '../context.ts';
import { jsonOption } from '../options.ts';

interface StartOptions {
  readonly roles?: ReadonlySet<Role>;
  readonly json: boolean;
}

const ROLES_HELP =
  `comma-separated: ${ROLES.join(', ')} ` +
  '(default: all; the sandbox only where nothing names a real service)';

export function startCommand(): Command {
  return new Command('start')
    .description('run everything in one process, or some roles of it')
    .option('--roles <roles>', ROLES_HELP, parseRoles)
    .addOption(jsonOption())
    .action(async ({ roles, json }: StartOptions) => {
      const config = readConfig();
      const log = createLog(config.logLevel);
      await runUntilSignal(async () => {
        const running = await start(config, roles ?? defaultRoles(config), log);
        if (json) printJson(describe(config, running));
        else printBanner(config, running);
        return running;
      }, log);
    });
}

function parseRoles(text: string): ReadonlySet<Role> {
  const roles = text.split(',').map((name) => {
    const role = ROLES.find((candidate) => candidate === name.trim());
    if (role === undefined) {
      throw new InvalidArgumentError(`"${name}" is no role; there are ${ROLES.join(', ')}.`);
    }
    return role;
  });
  return new Set(roles);
}

function describe(config: Config, running: Running): object {
  return {
    webhookUrl: webhookUrl(config, running) ?? null,
    adminUrl: adminUrl(config, running) ?? null,
    sandboxUrl: running.sandbox?.baseUrl ?? null,
    database: running.isEmbedded ? config.dataDir : 'DATABASE_URL',
    queues: config.redisUrl === undefined ? 'postgres' : 'redis',
  };
}

function printBanner(config: Config, running: Running): void {
  const lines = [
    ['Webhooks', webhookUrl(config, running)],
    ['Admin', adminUrl(config, running)],
    ['Payments', running.sandbox && `the sandbox, at ${running.sandbox.baseUrl}: no real money`],
    ['Database', running.isEmbedded ? `embedded, in ${config.dataDir}` : 'DATABASE_URL'],
    ['Queues', config.redisUrl === undefined ? 'in the database' : 'Redis'],
  ];
  if (running.isEmbedded) {
    const own =
      config.webhookSecrets === undefined ? `${config.dataDir}/webhook-secret` : undefined;
    const token = config.adminTokens === undefined ? `${config.dataDir}/admin-token` : undefined;
    const apiKey = running.sandbox && `${config.dataDir}/sandbox-api-key`;
    lines.push(['Webhook secret', own], ['Admin token', token], ['Sandbox key', apiKey]);
  }
  console.log('Tallyhook is running.');
  for (const [name, value] of lines) if (value) console.log(`  ${name?.padEnd(15)} ${value}`);
}

function webhookUrl(config: Config, { receiverPort }: Running): string | undefined {
  return receiverPort === undefined
    ? undefined
    : `http://127.0.0.1:${receiverPort}${config.webhookPath}`;
}

function adminUrl(config: Config, { consolePort }: Running): string | undefined {
  return consolePort === undefined ? undefined : `http://${config.adminHost}:${consolePort}`;
}

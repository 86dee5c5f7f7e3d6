/** Tallyhook on the cluster: a receiver for each way to the database, and one process for the other roles. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import type { Door, Load } from './load.ts';
import { ADDRESSES, FOLDER, LOGS, type Way } from './nodes.ts';
import { until } from './run.ts';

export interface Installation {
  readonly doors: readonly Door[];
  /** Settings of a command. */
  readonly env: Readonly<Record<string, string>>;
  /** Processes that have ended by themselves; each is a fault of Tallyhook. */
  ended(): readonly string[];
  stop(): Promise<void>;
}

export const COMMAND = join(packageRoot(), 'bin', 'tallyhook.js');
const ROLES = 'events,reconcile,alerts,scheduler,console';
const START_SECONDS = 180;

/** Migrates the database and starts the processes; resolves when they are ready. */
export async function startInstallation(
  { sandbox }: Load,
  ways: readonly Way[],
): Promise<Installation> {
  await migrateDatabase(ADDRESSES.hosts);
  const env = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    METRICS_PORT: '0',
    ADMIN_TOKEN: sandbox.webhookSecret,
    WEBHOOK_SECRETS: sandbox.webhookSecret,
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    QUEUE_DATABASE_URL: ADDRESSES.hosts,
    DATABASE_URL: ADDRESSES.hosts,
  };
  const children: Child[] = [];
  const start = (name: string, way: Way, roles: string): Child => {
    const child = startRoles(name, roles, { ...env, DATABASE_URL: ADDRESSES[way] });
    children.push(child);
    return child;
  };
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
  };
  try {
    const worker = start('roles', 'hosts', ROLES);
    const receivers = ways.map((way) => ({
      way,
      child: start(`receiver-${way}`, way, 'receiver'),
    }));
    await worker.logged('queue.consumer_ready');
    const doors: Door[] = [];
    for (const { way, child } of receivers) {
      const { port } = await child.logged('receiver.listening');
      const url = `http://127.0.0.1:${port}/webhooks`;
      doors.push({ name: way, url, acknowledgedAtMs: [] });
    }
    const ended = () => children.filter((child) => child.hasEnded()).map(({ name }) => name);
    return { doors, env, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface LogLine {
  readonly msg?: string;
  readonly port?: number;
}

interface Child {
  readonly name: string;
  hasEnded(): boolean;
  /** Waits for a line of its log. */
  logged(message: string): Promise<LogLine>;
  stop(): Promise<void>;
}

function startRoles(name: string, roles: string, env: Readonly<Record<string, string>>): Child {
  const log = join(LOGS, `${name}.log`);
  const output = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, [COMMAND, 'start', '--json', '--roles', roles], {
    cwd: FOLDER,
    env,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    hasEnded,
    logged: async (message) => {
      let found: LogLine | undefined;
      await until(`${name} to log ${message}`, START_SECONDS, () => {
        if (hasEnded()) throw new Error(`${name} ended: see ${log}`);
        const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
        const line = lines.find((text) => text.includes(`"msg":"${message}"`));
        if (line !== undefined) found = JSON.parse(line) as LogLine;
        return Promise.resolve(found !== undefined);
      });
      return found ?? {};
    },
    stop: async () => {
      if (hasEnded()) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

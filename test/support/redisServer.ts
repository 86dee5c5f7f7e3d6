/** Starts redis-server processes of a test's own, with settings that Tallyhook must report. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../src/platform/embeddedPostgres/server.ts';
import { waitFor } from './waitFor.ts';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Runs a command as the default user. */
  command(name: string, ...args: readonly string[]): Promise<unknown>;
  /** Stops the process until `wake`: it keeps its connections and responds to nothing. */
  hang(): void;
  wake(): void;
  /** Kills the process. Its files stay. */
  kill(): Promise<void>;
  /** Starts the process again after `kill`, and resolves when it responds. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server with further lines of configuration, or as a Sentinel. `requirepass` among them is used. */
export async function startRedisServer(
  lines: readonly string[] = [],
  as: readonly string[] = [],
): Promise<RedisServer> {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'tallyhook-redis-'));
  const config = join(dir, 'redis.conf');
  const all = [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, ...lines];
  writeFileSync(config, `${all.join('\n')}\n`);
  const run = () => {
    const server = spawn('redis-server', [config, ...as], { stdio: 'ignore' });
    return { server, ended: once(server, 'close') };
  };
  let running = run();
  const password = lines.find((line) => line.startsWith('requirepass '))?.split(' ')[1];
  const client = new Redis(`redis://127.0.0.1:${port}`, {
    retryStrategy: () => 50,
    enableReadyCheck: false,
    ...(password !== undefined && { password }),
  });
  client.on('error', () => undefined);
  const responds = () =>
    waitFor('redis to respond', async () => (await client.ping().catch(() => '')) === 'PONG');
  const kill = async (): Promise<void> => {
    running.server.kill('SIGKILL');
    await running.ended;
  };
  await responds();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    command: (name, ...args) => client.call(name, ...args),
    hang: () => void running.server.kill('SIGSTOP'),
    wake: () => void running.server.kill('SIGCONT'),
    kill,
    restart: async () => {
      running = run();
      await responds();
    },
    stop: async () => {
      client.disconnect();
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Starts redis-server processes of a test's own, with settings that Tallyhook must report. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { serverPort } from './serverPort.ts';
import { waitFor } from './waitFor.ts';

export interface RedisServer {
  readonly port: number;
  /** At which the nodes of a Cluster talk to each other. */
  readonly busPort: number;
  readonly url: string;
  /** The last lines of its log. */
  logTail(): readonly string[];
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

/**
 * Starts a server with further lines of configuration, or as a Sentinel. `requirepass` among them is used. Another
 * process may take a free port before the server does, which then ends at once; it is started again on another one.
 */
export async function startRedisServer(
  lines: readonly string[] = [],
  as: readonly string[] = [],
): Promise<RedisServer> {
  for (let starts = 1; starts <= MAX_STARTS; starts += 1) {
    const server = await startOnFreePorts(lines, as);
    if (server !== undefined) return server;
  }
  throw new Error(`redis-server ends at its start, on each of ${MAX_STARTS} ports`);
}

const MAX_STARTS = 10;
const LOG_LINES = 60;

/** @returns undefined if the server ended before it responded */
async function startOnFreePorts(
  lines: readonly string[],
  as: readonly string[],
): Promise<RedisServer | undefined> {
  const port = await serverPort();
  const busPort = await serverPort();
  const dir = mkdtempSync(join(tmpdir(), 'tallyhook-redis-'));
  const config = join(dir, 'redis.conf');
  const log = join(dir, 'redis.log');
  const own = [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, `logfile ${log}`];
  const bus = lines.includes('cluster-enabled yes') ? [`cluster-port ${busPort}`] : [];
  writeFileSync(config, `${[...own, ...bus, ...lines].join('\n')}\n`);
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
  /** Whether it responds; false once it has ended. */
  const responds = async (): Promise<boolean> => {
    const { server } = running;
    const hasEnded = () => server.exitCode !== null || server.signalCode !== null;
    const isPonged = async () => (await client.ping().catch(() => '')) === 'PONG';
    await waitFor('redis to respond', async () => hasEnded() || (await isPonged()));
    return !hasEnded();
  };
  const kill = async (): Promise<void> => {
    running.server.kill('SIGKILL');
    await running.ended;
  };
  const stop = async (): Promise<void> => {
    client.disconnect();
    await kill();
    rmSync(dir, { recursive: true, force: true });
  };
  if (!(await responds())) {
    await stop();
    return undefined;
  }
  return {
    port,
    busPort,
    url: `redis://127.0.0.1:${port}`,
    logTail: () => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LOG_LINES),
    command: (name, ...args) => client.call(name, ...args),
    hang: () => void running.server.kill('SIGSTOP'),
    wake: () => void running.server.kill('SIGCONT'),
    kill,
    restart: () =>
      waitFor('redis to start again on its port', () => {
        running = run();
        return responds();
      }),
    stop,
  };
}

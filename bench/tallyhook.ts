/** Tallyhook as its users run it: one process for each role, or one for all. */
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import type { Bench } from './bench.ts';
import { MERCHANT_ID, WEBHOOK_PATH } from './events.ts';
import { nodeFlags } from './nodeFlags.ts';
import { compiled, type ProgramOptions, type Started, startLogging } from './processes.ts';

export type Shape = 'receiver' | 'processes' | 'single';

export interface Tallyhook {
  readonly port: number;
  readonly processes: readonly Started[];
  stop(): Promise<void>;
}

/**
 * Starts the processes of a shape on one database and waits until all of them are ready.
 * @param shop settings of the shop that order webhooks go to, if any
 */
export async function startTallyhook(
  bench: Bench,
  shape: Shape,
  databaseUrl: string,
  shop?: Readonly<Record<string, string>>,
): Promise<Tallyhook> {
  const program = programsOf(bench, shape, databaseUrl, shop);
  if (shape === 'single') {
    const bin = join(packageRoot(), 'bin', 'tallyhook.js');
    const started = await startLogging(program('tallyhook', bin, ['start']), 'receiver.listening');
    return running(started.ready?.port, [started]);
  }
  const worker = (name: string, readyEvent: string | undefined) =>
    startLogging(program(name, workerFile(name)), readyEvent);
  const receiver = await worker('receiver', 'receiver.listening');
  if (shape === 'receiver') return running(receiver.ready?.port, [receiver]);
  const events = await worker('events', 'queue.consumer_ready');
  // The scheduler logs nothing at its start; it is ready before the first minute is over.
  const scheduler = await worker('scheduler', undefined);
  const alerts = shop ? [await worker('alerts', 'notify.started')] : [];
  return running(receiver.ready?.port, [receiver, events, scheduler, ...alerts]);
}

/** Starts the worker that applies events, beside a receiver that already runs. */
export function startEventsWorker(bench: Bench, databaseUrl: string): Promise<Started> {
  const program = programsOf(bench, 'processes', databaseUrl);
  return startLogging(program('events', workerFile('events')), 'queue.consumer_ready');
}

function workerFile(name: string): string {
  return compiled(`workers/${name}.js`);
}

function programsOf(
  bench: Bench,
  shape: Shape,
  databaseUrl: string,
  shop: Readonly<Record<string, string>> = {},
) {
  return (name: string, file: string, args: readonly string[] = []): ProgramOptions => ({
    name,
    file,
    args,
    nodeArgs: [...nodeFlags(name === 'tallyhook' ? 'receiver' : name), ...profileArgs(bench, name)],
    env: { ...settings(bench, databaseUrl, shape), ...shop },
    cwd: bench.folder,
    cleanup: bench.cleanup,
  });
}

function running(port: number | undefined, processes: readonly Started[]): Tallyhook {
  if (port === undefined) throw new Error('the receiver did not log its port');
  return {
    port,
    processes,
    stop: async () => {
      for (const process of processes) await process.stop();
    },
  };
}

function settings(bench: Bench, databaseUrl: string, shape: Shape): Record<string, string> {
  const { redisUrl } = bench.options;
  return {
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: '0',
    WEBHOOK_PATH,
    WEBHOOK_SECRETS: bench.secret,
    PAYMENTS_MERCHANT_ID: MERCHANT_ID,
    ...(redisUrl === undefined || shape === 'receiver' ? {} : { REDIS_URL: redisUrl }),
    ...(shape === 'single' ? { ADMIN_PORT: '0', ADMIN_TOKEN: bench.secret } : {}),
  };
}

function profileArgs({ options, part }: Bench, name: string): readonly string[] {
  if (options.profileDir === undefined) return [];
  const file = `${part}-${name}.cpuprofile`;
  return ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`, `--cpu-prof-name=${file}`];
}

/**
 * Each role as users start it: how long until it is ready, and how much memory it holds at rest. The database
 * is external and has the schema; nothing is received.
 */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../src/platform/packageRoot.ts';
import type { Bench } from './bench.ts';
import { MERCHANT_ID } from './events.ts';
import { nowMs } from './loadProtocol.ts';
import { memoryMib } from './memory.ts';
import { nodeFlags } from './nodeFlags.ts';
import { type Started, startLogging } from './processes.ts';
import { median } from './quantiles.ts';

export interface RestReport {
  readonly starts: number;
  readonly rows: readonly RestRow[];
}

export interface RestRow {
  readonly name: string;
  /** Medians. */
  readonly readySeconds: number;
  readonly memoryMb: number;
  /** Undefined: there is none. */
  readonly goalSeconds: number | undefined;
  readonly goalMb: number | undefined;
}

interface Start {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly nodeArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly goalSeconds: number | undefined;
  readonly goalMb: number | undefined;
}

interface Rest {
  readonly readySeconds: number;
  readonly memoryMb: number;
}

const STARTS = 3;
const ROLES = ['receiver', 'events', 'reconcile', 'alerts', 'scheduler', 'console'];
/** The young generation of a process that just started is full of what it needed to start. */
const AT_REST_AFTER_MS = 5_000;
const POLL_EVERY_MS = 20;
const MB_OF_MIB = 1.048576;

export async function runRest(bench: Bench): Promise<RestReport> {
  const db = await bench.postgres.createDatabase('bench_rest');
  const starts = startsOf(bench, db.url);
  // A start before the first round makes the data folder of the embedded database, and reads all files.
  for (const start of starts) await measure(bench, start);
  const rounds: (Rest & { readonly start: Start })[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    for (const start of starts) rounds.push({ start, ...(await measure(bench, start)) });
  }
  await db.drop();
  const rows = starts.map((start): RestRow => {
    const own = rounds.filter((one) => one.start === start);
    return {
      name: start.name,
      goalSeconds: start.goalSeconds,
      goalMb: start.goalMb,
      readySeconds: median(own.map(({ readySeconds }) => readySeconds)),
      memoryMb: median(own.map(({ memoryMb }) => memoryMb)),
    };
  });
  return { starts: STARTS, rows };
}

function startsOf({ secret, folder }: Bench, databaseUrl: string): readonly Start[] {
  const own = {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: secret,
    WEBHOOK_SECRETS: secret,
    PAYMENTS_MERCHANT_ID: MERCHANT_ID,
    PAYMENTS_BASE_URL: 'http://127.0.0.1:9',
    PAYMENTS_API_KEY: `snd_${secret}`,
  };
  const external = { ...own, DATABASE_URL: databaseUrl };
  const program = join(packageRoot(), 'dist', 'program');
  const all = { file: join(packageRoot(), 'bin', 'tallyhook.js'), args: ['start'], nodeArgs: [] };
  return [
    ...ROLES.map((name) => ({
      name,
      file: join(program, `${name}.js`),
      args: [],
      nodeArgs: nodeFlags(name),
      env: external,
      goalSeconds: 1,
      goalMb: 90,
    })),
    { ...all, name: 'all roles', env: external, goalSeconds: undefined, goalMb: undefined },
    {
      ...all,
      name: 'all, embedded',
      goalSeconds: 2,
      goalMb: undefined,
      env: { ...own, DATA_DIR: join(folder, 'rest') },
    },
  ];
}

async function measure(
  { cleanup, folder }: Bench,
  { name, file, args, nodeArgs, env }: Start,
): Promise<Rest> {
  const startMs = nowMs();
  const options = { name, file, args, nodeArgs, env, cwd: folder, cleanup };
  const started = await startLogging(options, 'health.listening');
  try {
    await untilReady(started, started.ready?.port);
    const readySeconds = (nowMs() - startMs) / 1_000;
    await pause(AT_REST_AFTER_MS);
    return { readySeconds, memoryMb: memoryMib(started.pid) * MB_OF_MIB };
  } finally {
    await started.stop();
  }
}

const READY_TIMEOUT_MS = 30_000;

async function untilReady({ name }: Started, port: number | undefined): Promise<void> {
  const startMs = nowMs();
  while (nowMs() - startMs < READY_TIMEOUT_MS) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return;
    await pause(POLL_EVERY_MS);
  }
  throw new Error(`${name} was not ready within ${READY_TIMEOUT_MS / 1_000} s`);
}

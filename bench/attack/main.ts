/**
 * `scripts/attack-receiver.sh`: what strangers can cost a receiver. Starts a PostgreSQL, a receiver and
 * an attacker on loopback, measures memory, good deliveries and throughput, and ends them all.
 */
import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rateOf } from '../bench.ts';
import type { Cleanup } from '../cleanup.ts';
import { type Postgres, startPostgres } from '../database.ts';
import { createEventStream, MERCHANT_ID, WEBHOOK_PATH } from '../events.ts';
import { type Load, startLoad } from '../loadProcess.ts';
import type { RunResult } from '../loadProtocol.ts';
import { memoryMib } from '../memory.ts';
import { nodeFlags } from '../nodeFlags.ts';
import { compiled, startLogging, startModule } from '../processes.ts';
import { type BenchParts, runBench } from '../runBench.ts';
import { type Deliveries, startGoodSenders } from './goodSenders.ts';
import type { AttackRequest, AttackResult } from './protocol.ts';

const HELP = `scripts/attack-receiver.sh [PART]...

The comment of the script has the parts. Exit code: 0 every target was reached, 1 not.`;

const DEADLINE_MS = 15 * 60_000;
const WARM_UP_SECONDS = 8;
const ATTACK_SECONDS = 15;
const SETTLE_MS = 3_000;
const SAMPLE_EVERY_MS = 100;
const MAX_GROWTH_MIB = 64;
/** Short sides in alternating order, so that other load on the machine meets both. */
const SIDE_SECONDS = 4;
const SETTLE_SECONDS = 1;
/** Odd, so that one of them is the median. */
const PAIRS = 11;
const FORGED_PER_SIDE = 3_000;
const MIN_RATIO = 0.8;
const MAX_EVENTS_PER_SECOND = 6_000;

interface Arena {
  readonly cleanup: Cleanup;
  readonly folder: string;
  readonly secret: string;
  readonly postgres: Postgres;
  readonly load: Load;
}

interface Receiver {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

let databases = 0;

async function startReceiver({ cleanup, folder, postgres, secret }: Arena): Promise<Receiver> {
  databases += 1;
  const db = await postgres.createDatabase(`attack_${databases}`);
  const started = await startLogging(
    {
      name: 'receiver',
      file: compiled('workers/receiver.js'),
      nodeArgs: nodeFlags('receiver'),
      env: {
        DATABASE_URL: db.url,
        HOST: '127.0.0.1',
        PORT: '0',
        METRICS_PORT: '0',
        WEBHOOK_PATH,
        WEBHOOK_SECRETS: secret,
        PAYMENTS_MERCHANT_ID: MERCHANT_ID,
      },
      cwd: folder,
      cleanup,
    },
    'receiver.listening',
  );
  const { pid, ready } = started;
  if (ready?.port === undefined) throw new Error('the receiver did not log its port');
  return { port: ready.port, pid, stop: started.stop };
}

async function attack(arena: Arena, request: AttackRequest): Promise<AttackResult> {
  const { cleanup, folder: cwd } = arena;
  const file = compiled('bench/attack/attacker.js');
  let stop: () => Promise<void> = () => Promise.resolve();
  const result = await new Promise<AttackResult>((resolve, reject) => {
    const { started, send } = startModule(
      { name: 'attacker', file, env: {}, cwd, cleanup },
      (message) => resolve(message as unknown as AttackResult),
      () => reject(new Error('the attacker ended')),
    );
    stop = started.stop;
    send({ ...request });
  });
  await stop();
  return result;
}

/** Attacks a fresh receiver, and prints what it cost. */
async function measureHolding(
  arena: Arena,
  title: string,
  held: Pick<AttackRequest, 'attack' | 'connections' | 'isReopening'> | undefined,
): Promise<boolean> {
  const receiver = await startReceiver(arena);
  const { load } = arena;
  await load.prepare(WARM_UP_SECONDS * MAX_EVENTS_PER_SECOND);
  await load.run({ port: receiver.port, seconds: WARM_UP_SECONDS });
  const requests = createEventStream(databases, arena.secret).next(10_000);
  const good = await startGoodSenders(receiver.port, requests);
  let mostMib = 0;
  const sampler = setInterval(() => {
    mostMib = Math.max(mostMib, memoryMib(receiver.pid));
  }, SAMPLE_EVERY_MS);
  // Garbage comes and goes with any traffic: the most before is compared with the most during.
  await sleep(ATTACK_SECONDS * 1_000);
  const beforeMib = mostMib;
  const result = held
    ? await attack(arena, { ...held, port: receiver.port, requests: 0, seconds: ATTACK_SECONDS })
    : await sleep(ATTACK_SECONDS * 1_000, undefined);
  await good.stop();
  await sleep(SETTLE_MS);
  clearInterval(sampler);
  const afterMib = memoryMib(receiver.pid);
  await receiver.stop();
  const growthMib = mostMib - beforeMib;
  const { onNewConnections: fresh, onOldConnections: old } = good;
  console.log(
    `${title}${result ? ` (${result.opened} opened in ${ATTACK_SECONDS} s)` : ''}\n` +
      `  memory: ${mib(beforeMib)} at most before, ${mib(mostMib)} at most during (+${mib(growthMib)}), ${mib(afterMib)} after\n` +
      `  deliveries refused: ${old.refused} of ${old.acknowledged + old.refused} on verified connections, ` +
      `${fresh.refused} of ${fresh.acknowledged + fresh.refused} on new ones` +
      `${reasonsOf(old)}${reasonsOf(fresh)}`,
  );
  return growthMib <= MAX_GROWTH_MIB && old.refused === 0;
}

const reasonsOf = ({ reasons }: Deliveries): string =>
  Object.entries(reasons)
    .map(([reason, count]) => `; ${reason}: ${count}`)
    .join('');

const mib = (value: number): string => `${value.toFixed(0)} MiB`;

/** Good throughput with and without forged deliveries, in alternating pairs on one receiver. */
async function measureForging(
  arena: Arena,
  title: string,
  forging: Pick<AttackRequest, 'attack' | 'connections'>,
): Promise<boolean> {
  const receiver = await startReceiver(arena);
  const { load } = arena;
  const { port } = receiver;
  /** Opens and verifies its connections before the counted time, with which `begin` is called. */
  const run = async (seconds: number, begin?: () => void): Promise<RunResult> => {
    await load.prepare((seconds + SETTLE_SECONDS) * MAX_EVENTS_PER_SECOND);
    const request = { port, seconds, warmUpSeconds: SETTLE_SECONDS };
    return load.run(request, begin ? { onCounting: begin } : {});
  };
  const runBeside = async () => {
    const requests = FORGED_PER_SIDE;
    let attacking: Promise<AttackResult> | undefined;
    const own = await run(SIDE_SECONDS, () => {
      const kind = { ...forging, isReopening: true, port, requests, seconds: SIDE_SECONDS };
      attacking = attack(arena, kind);
    });
    return { own, sent: (await attacking)?.sent ?? 0 };
  };
  await run(WARM_UP_SECONDS);
  const pairs: Pair[] = [];
  for (let n = 0; n < PAIRS; n += 1) {
    const before = n % 2 === 0 ? await run(SIDE_SECONDS) : undefined;
    const { own, sent } = await runBeside();
    const alone = before ?? (await run(SIDE_SECONDS));
    pairs.push({ alone: rateOf(alone), beside: rateOf(own), refused: refusedOf(own), sent });
  }
  await receiver.stop();
  const sum = (read: (pair: Pair) => number) => pairs.reduce((all, pair) => all + read(pair), 0);
  const ratios = pairs.map(({ alone, beside }) => beside / alone).sort((a, b) => a - b);
  const median = ratios[Math.floor(PAIRS / 2)] ?? 0;
  console.log(
    `${title}: ${sum((pair) => pair.sent)} sent in ${PAIRS} times ${SIDE_SECONDS} s\n` +
      `  good events a second: ${(sum(({ beside }) => beside) / PAIRS).toFixed(0)} beside them, ` +
      `${(sum(({ alone }) => alone) / PAIRS).toFixed(0)} without; ratios ` +
      `${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}, median ${median.toFixed(2)}\n` +
      `  good deliveries refused: ${sum(({ refused }) => refused)}`,
  );
  return median >= MIN_RATIO;
}

interface Pair {
  readonly alone: number;
  readonly beside: number;
  readonly refused: number;
  readonly sent: number;
}

function refusedOf({ broken, refused }: RunResult): number {
  return Object.values(refused).reduce((sum, count) => sum + count, broken);
}

type Part = (arena: Arena) => Promise<boolean>;

const PARTS: Readonly<Record<string, Part>> = {
  none: (arena) => measureHolding(arena, 'no attack', undefined),
  silent: (arena) =>
    measureHolding(arena, '2,000 silent connections', {
      attack: 'silent',
      connections: 2_000,
      isReopening: false,
    }),
  cheap: (arena) =>
    measureHolding(arena, '2,000 connections with one cheap request each', {
      attack: 'cheap',
      connections: 2_000,
      isReopening: false,
    }),
  cheap_reopening: (arena) =>
    measureHolding(arena, 'the same, each opened again a second after it was closed', {
      attack: 'cheap',
      connections: 2_000,
      isReopening: true,
    }),
  endless: (arena) =>
    measureHolding(arena, '1,000 connections with one MiB of an endless body each', {
      attack: 'endless',
      connections: 1_000,
      isReopening: false,
    }),
  forged: (arena) =>
    measureForging(arena, 'forged deliveries on 100 connections', {
      attack: 'forged',
      connections: 100,
    }),
  forged_reconnecting: (arena) =>
    measureForging(arena, 'forged deliveries on a connection each', {
      attack: 'forged_reconnecting',
      connections: 1,
    }),
};

async function attackAll(
  names: readonly string[],
  { folder, cleanup }: BenchParts,
): Promise<boolean> {
  const secret = randomBytes(32).toString('hex');
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const load = await startLoad({ secret, cwd: folder, cleanup });
  await load.openStream(1);
  const arena: Arena = { cleanup, folder, secret, postgres, load };
  console.log(`load of the machine before: ${loadavg()[0]?.toFixed(1)}`);
  const passed: boolean[] = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    if (names.length === 0 || names.includes(name)) passed.push(await measure(arena));
  }
  return passed.every(Boolean);
}

await runBench({
  help: HELP,
  flags: {},
  names: Object.keys(PARTS),
  deadlineMs: DEADLINE_MS,
  run: (_flags, parts, named) => attackAll(named, parts),
});

/**
 * kill -9 under load, at random times: no acknowledged event is lost, every one is applied, and the shop
 * receives an order webhook about the final state of each order. TEST_SEED repeats a run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type BurstEvent,
  createEventBurst,
  type EventBurst,
  expectApplied,
  findLost,
  findNotPersisted,
  type Sender,
  startSending,
} from '../support/eventBurst.ts';
import { KILLED_ROLES, type LoadedRole, ROLE_KILLS, SINGLE_KILLS } from '../support/kills.ts';
import {
  type Environment,
  type Program,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';
import {
  type HttpReceiver,
  type ReceivedPost,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();
/** For each kill. */
const ORDERS = 50;
const CONCURRENCY = 32;

let db: TestDatabase;
let shop: HttpReceiver;
const programs = new Set<Program>();
const senders = new Set<Sender>();
beforeEach(async () => {
  [db, shop] = await Promise.all([createTestDatabase(), startHttpReceiver(SIGNING_SECRET)]);
});
afterEach(async () => {
  for (const sender of senders) sender.stop();
  for (const program of programs) await kill(program);
  await shop.close();
  await db.drop();
});

interface Run {
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Environment;
}

function run({ script, args = [], env = {} }: Run): Program {
  const program = spawnProgram(script, args, { env: settingsFor(db.url, env) });
  programs.add(program);
  return program;
}

async function kill(program: Program): Promise<void> {
  program.kill('SIGKILL');
  await program.exit;
  programs.delete(program);
}

/** Numbers of acknowledgments at which to kill, spread over the load. */
function randomKillPoints(total: number, kills: number, random: Random): readonly number[] {
  const span = total / (kills + 1);
  return Array.from({ length: kills }, (_, index) => Math.floor(span * (index + 0.5 + random())));
}

/** A few milliseconds more, so that not every kill comes just after a response. */
function randomDelayMs(random: Random): number {
  return random() * 20;
}

test(`${SINGLE_KILLS} kills of a single process under load lose no acknowledged event (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const burst = createEventBurst(ORDERS * SINGLE_KILLS, random);
  let program = run({ script: 'bin/tallyhook.js', args: ['start'] });
  let url = await webhookUrlOf(program);
  const sender = startSending(burst.deliveries, { url: () => url, concurrency: CONCURRENCY });
  senders.add(sender);

  const lost = new Set<string>();
  for (const killPoint of randomKillPoints(burst.deliveries.length, SINGLE_KILLS, random)) {
    await sender.waitForAcknowledged(killPoint);
    await pause(randomDelayMs(random));
    await kill(program);
    for (const id of await findNotPersisted(db, sender)) lost.add(id);
    program = run({ script: 'bin/tallyhook.js', args: ['start'] });
    url = await webhookUrlOf(program);
  }
  await sender.done;

  for (const id of await findLost(db, sender)) lost.add(id);
  recordFigures({
    kind: 'kills',
    killed: 'all roles in one process',
    kills: SINGLE_KILLS,
    acknowledged: sender.acknowledged.size,
    lost: lost.size,
    appliedAfterSeconds: [],
  });
  expect([...lost]).toEqual([]);
  expect(sender.responses.get('unreachable')).toBeGreaterThan(0);
  expect(sender.improper).toEqual([]);
  expect(sender.acknowledged.size).toBe(burst.eventIds.length);
  await expectApplied(db, burst);
});

const redisUrl = redisDatabaseOf('kill');

/** The log line with which a worker starts to work; the scheduler logs nothing. */
const READY: Readonly<Record<LoadedRole, string>> = {
  receiver: '"msg":"receiver.listening"',
  events: '"msg":"queue.consumer_ready"',
  alerts: '"msg":"notify.started"',
  scheduler: '',
};

/** Maximum time between some acknowledgments and the kill: about as long as the role works on a slice. */
const KILL_WITHIN_MS: Readonly<Record<LoadedRole, number>> = {
  receiver: 20,
  events: 300,
  alerts: 1_000,
  scheduler: 1_000,
};

/** A killed delivery is repeated after its lease of a minute, by a sweep every minute, and may be killed again. */
const DELIVERED_WITHIN_MS = 8 * 60_000;

describe.each([
  { queue: 'the database', env: {}, isSkipped: false },
  {
    queue: redisUrl === undefined ? 'Redis: SKIPPED: no redis-server' : 'Redis',
    env: { REDIS_URL: redisUrl },
    isSkipped: redisUrl === undefined,
  },
])('with queues in $queue', ({ queue, env, isSkipped }) => {
  const hasShop = KILLED_ROLES.includes('alerts');
  const running = new Map<LoadedRole, Program>();
  const start = (role: LoadedRole): Program => {
    const ofShop = { ORDER_WEBHOOK_URL: shop.url, ORDER_WEBHOOK_SECRET: SIGNING_SECRET };
    const all = { ...env, ...(hasShop && ofShop) };
    const program = run({ script: `dist/program/${role}.js`, env: all });
    running.set(role, program);
    return program;
  };
  const stop = async (role: LoadedRole): Promise<void> => {
    const program = running.get(role);
    if (program) await kill(program);
  };

  test.skipIf(isSkipped)(
    `${ROLE_KILLS} kills of each worker process under load lose no acknowledged event (seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED + 1);
      const kills = KILLED_ROLES.flatMap((role) => Array<LoadedRole>(ROLE_KILLS).fill(role));
      const burst = createEventBurst(ORDERS * kills.length, random);
      for (const role of ['receiver', 'events', 'scheduler'] as const) start(role);
      if (hasShop) await startShop();

      const slices: Slice[] = [];
      for (const [index, role] of kills.entries()) {
        const deliveries = sliceOf(burst.deliveries, index, kills.length);
        slices.push(await sendWithKill(deliveries, role, random));
      }
      // A starting scheduler enqueues what killed processes had claimed.
      await stop('scheduler');
      start('scheduler');
      const counts = KILLED_ROLES.map((role) => slices.filter((slice) => slice.role === role));
      const lost: string[] = [];
      for (const own of counts) lost.push(...(await record(own, burst)));

      expect(lost).toEqual([]);
      await expectApplied(db, burst);
    },
  );

  /** Records what the kills of one role lost. @returns ids of events, and of orders without a last webhook */
  async function record(slices: readonly Slice[], burst: EventBurst): Promise<readonly string[]> {
    const acknowledged = new Set(slices.flatMap((slice) => [...slice.acknowledged]));
    const notPersisted = slices.flatMap((slice) => slice.notPersisted);
    const lost = new Set([...notPersisted, ...(await findLost(db, { acknowledged }))]);
    const undelivered = hasShop ? await findUndelivered(burst) : undefined;
    recordFigures({
      kind: 'kills',
      killed: `${slices[0]?.role}, queues in ${queue}`,
      kills: slices.length,
      acknowledged: acknowledged.size,
      lost: lost.size,
      ...(undelivered && {
        orderWebhooks: { expected: burst.orders.length, lost: undelivered.length },
      }),
      appliedAfterSeconds: [],
    });
    return [...lost, ...(undelivered ?? [])];
  }

  /** Order webhooks begin with the first change after an alerts worker has its address. */
  async function startShop(): Promise<void> {
    start('alerts');
    await waitFor('order webhooks to begin', async () => {
      return (await db.query('select change_number from order_webhook_position')).length > 0;
    });
  }

  /** Kills a role while a slice is sent, and starts it again. */
  async function sendWithKill(
    slice: readonly BurstEvent[],
    role: LoadedRole,
    random: Random,
  ): Promise<Slice> {
    await waitFor(`the ${role} to work`, () => {
      return running.get(role)?.stdout().includes(READY[role]) ?? false;
    });
    let url = await webhookUrlOf(running.get('receiver') ?? start('receiver'));
    const sender = startSending(slice, { url: () => url, concurrency: CONCURRENCY });
    senders.add(sender);
    await sender.waitForAcknowledged(Math.floor(random() * slice.length * 0.8));
    await pause(random() * KILL_WITHIN_MS[role]);
    await stop(role);
    const notPersisted = await findNotPersisted(db, sender);
    const program = start(role);
    if (role === 'receiver') url = await webhookUrlOf(program);
    await sender.done;
    senders.delete(sender);
    expect(sender.improper).toEqual([]);
    return { role, acknowledged: sender.acknowledged, notPersisted };
  }
});

interface Slice {
  readonly role: LoadedRole;
  readonly acknowledged: ReadonlySet<string>;
  /** Of these, those that were not in the inbox right after the kill. */
  readonly notPersisted: readonly string[];
}

function sliceOf(deliveries: readonly BurstEvent[], index: number, slices: number) {
  const length = deliveries.length / slices;
  return deliveries.slice(Math.round(index * length), Math.round((index + 1) * length));
}

interface OrderWebhook {
  readonly data: {
    readonly order: {
      readonly order_id: string;
      readonly totals: readonly {
        readonly amount_captured: number;
        readonly amount_refunded: number;
      }[];
    };
  };
}

/** Waits until the shop has received the final state of each order. @returns the others at the deadline */
async function findUndelivered({ orders }: EventBurst): Promise<readonly string[]> {
  const stateOf = (post: ReceivedPost): string => {
    const { order } = (JSON.parse(post.body) as OrderWebhook).data;
    const [totals] = order.totals;
    return `${order.order_id} ${totals?.amount_captured} ${totals?.amount_refunded}`;
  };
  const received = new Set<string>();
  let read = 0;
  const missing = () => {
    const posts = shop.accepted();
    for (const post of posts.slice(read)) received.add(stateOf(post));
    read = posts.length;
    return orders
      .filter(
        ({ orderId, capturedMinor, refundedMinor }) =>
          !received.has(`${orderId} ${capturedMinor} ${refundedMinor}`),
      )
      .map(({ orderId }) => orderId);
  };
  const isComplete = () => missing().length === 0;
  await waitFor('every order webhook', isComplete, DELIVERED_WITHIN_MS).catch(() => undefined);
  return missing();
}

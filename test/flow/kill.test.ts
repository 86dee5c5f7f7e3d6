/**
 * kill -9 under load, at random times: no acknowledged event is lost, and every one is applied. TEST_SEED
 * repeats a run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createEventBurst,
  expectApplied,
  findNotPersisted,
  type Sender,
  startSending,
} from '../support/eventBurst.ts';
import {
  type Environment,
  type Program,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';

const SEED = testSeed();
const ORDERS = 250;
const CONCURRENCY = 32;
const KILLS = 5;

let db: TestDatabase;
const programs = new Set<Program>();
const senders = new Set<Sender>();
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const sender of senders) sender.stop();
  for (const program of programs) await kill(program);
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

test(`${KILLS} kills of a single process under load lose no acknowledged event (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const burst = createEventBurst(ORDERS, random);
  let program = run({ script: 'bin/tallyhook.js', args: ['start'] });
  let url = await webhookUrlOf(program);
  const sender = startSending(burst.deliveries, { url: () => url, concurrency: CONCURRENCY });
  senders.add(sender);

  for (const killPoint of randomKillPoints(burst.deliveries.length, KILLS, random)) {
    await sender.waitForAcknowledged(killPoint);
    await pause(randomDelayMs(random));
    await kill(program);
    expect(await findNotPersisted(db, sender)).toEqual([]);
    program = run({ script: 'bin/tallyhook.js', args: ['start'] });
    url = await webhookUrlOf(program);
  }
  await sender.done;

  expect(sender.responses.get('unreachable')).toBeGreaterThan(0);
  expect(sender.improper).toEqual([]);
  expect(sender.acknowledged.size).toBe(burst.eventIds.length);
  expect(await findNotPersisted(db, sender)).toEqual([]);
  await expectApplied(db, burst);
});

/** A Redis database that no other test uses. */
const redisUrl = inject('redisUrl') && `${inject('redisUrl')}/14`;

describe.each([
  { queues: 'in the database', env: {}, isSkipped: false },
  {
    queues: redisUrl === undefined ? 'in Redis: SKIPPED: no redis-server' : 'in Redis',
    env: { REDIS_URL: redisUrl },
    isSkipped: redisUrl === undefined,
  },
])('with queues $queues', ({ env, isSkipped }) => {
  test.skipIf(isSkipped)(
    `kills of each worker process under load lose no acknowledged event (seed ${SEED})`,
    async () => {
      const runWorker = (name: string) => run({ script: `dist/program/${name}.js`, env });
      const random = seededRandom(SEED + 1);
      const burst = createEventBurst(ORDERS, random);
      let receiver = runWorker('receiver');
      const events = runWorker('events');
      const scheduler = runWorker('scheduler');
      let url = await webhookUrlOf(receiver);
      const sender = startSending(burst.deliveries, { url: () => url, concurrency: CONCURRENCY });
      senders.add(sender);
      const [first = 0, second = 0, third = 0] = randomKillPoints(
        burst.deliveries.length,
        3,
        random,
      );

      await sender.waitForAcknowledged(first);
      await pause(randomDelayMs(random));
      await kill(events);
      expect(await findNotPersisted(db, sender)).toEqual([]);
      runWorker('events');

      await sender.waitForAcknowledged(second);
      await pause(randomDelayMs(random));
      await kill(receiver);
      expect(await findNotPersisted(db, sender)).toEqual([]);
      receiver = runWorker('receiver');
      url = await webhookUrlOf(receiver);

      // The scheduler is started last: it enqueues what the killed processes had claimed.
      await sender.waitForAcknowledged(third);
      await pause(randomDelayMs(random));
      await kill(scheduler);
      runWorker('scheduler');
      await sender.done;

      expect(sender.improper).toEqual([]);
      expect(sender.acknowledged.size).toBe(burst.eventIds.length);
      await expectApplied(db, burst);
    },
  );
});

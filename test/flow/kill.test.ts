/**
 * kill -9 under load, at moments drawn by a seed: what was acknowledged is never lost, and ends
 * applied. TEST_SEED repeats a run.
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
const ORDERS = 500;
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

/** The counts of acknowledgements at which to kill, spread over the whole load. */
function drawMoments(total: number, kills: number, random: Random): readonly number[] {
  const span = total / (kills + 1);
  return Array.from({ length: kills }, (_, place) => Math.floor(span * (place + 0.5 + random())));
}

/** A few milliseconds more, so that not every kill follows upon a reply. */
function drawDelayMs(random: Random): number {
  return random() * 20;
}

test(`kill -9 of the one process, at ${KILLS} moments under load, loses nothing that was acknowledged (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const storm = createEventBurst(ORDERS, random);
  let program = run({ script: 'bin/tallyhook.js', args: ['start'] });
  let url = await webhookUrlOf(program);
  const sender = startSending(storm.deliveries, { url: () => url, concurrency: CONCURRENCY });
  senders.add(sender);

  for (const moment of drawMoments(storm.deliveries.length, KILLS, random)) {
    await sender.waitForAcknowledged(moment);
    await pause(drawDelayMs(random));
    await kill(program);
    expect(await findNotPersisted(db, sender)).toEqual([]);
    program = run({ script: 'bin/tallyhook.js', args: ['start'] });
    url = await webhookUrlOf(program);
  }
  await sender.done;

  expect(sender.responses.get('unreachable')).toBeGreaterThan(0);
  expect(sender.improper).toEqual([]);
  expect(sender.acknowledged.size).toBe(storm.eventIds.length);
  expect(await findNotPersisted(db, sender)).toEqual([]);
  await expectApplied(db, storm);
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
])('queues $queues', ({ env, isSkipped }) => {
  test.skipIf(isSkipped)(
    `kill -9 of the worker processes, one after the other under load, loses nothing that was acknowledged (seed ${SEED})`,
    async () => {
      const runWorker = (name: string) => run({ script: `dist/workers/${name}.js`, env });
      const random = seededRandom(SEED + 1);
      const storm = createEventBurst(ORDERS, random);
      let receiver = runWorker('receiver');
      const events = runWorker('events');
      const scheduler = runWorker('scheduler');
      let url = await webhookUrlOf(receiver);
      const sender = startSending(storm.deliveries, { url: () => url, concurrency: CONCURRENCY });
      senders.add(sender);
      const [first = 0, second = 0, third = 0] = drawMoments(storm.deliveries.length, 3, random);

      await sender.waitForAcknowledged(first);
      await pause(drawDelayMs(random));
      await kill(events);
      expect(await findNotPersisted(db, sender)).toEqual([]);
      runWorker('events');

      await sender.waitForAcknowledged(second);
      await pause(drawDelayMs(random));
      await kill(receiver);
      expect(await findNotPersisted(db, sender)).toEqual([]);
      receiver = runWorker('receiver');
      url = await webhookUrlOf(receiver);

      // The scheduler starts last: it enqueues what the others left behind.
      await sender.waitForAcknowledged(third);
      await pause(drawDelayMs(random));
      await kill(scheduler);
      runWorker('scheduler');
      await sender.done;

      expect(sender.improper).toEqual([]);
      expect(sender.acknowledged.size).toBe(storm.eventIds.length);
      await expectApplied(db, storm);
    },
  );
});

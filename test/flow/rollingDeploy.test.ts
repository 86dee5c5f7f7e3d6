/**
 * Versions run side by side during a deployment. Receivers are replaced one after the other behind a load
 * balancer without a refused delivery, and a version refuses a schema only if a migration removed what it uses.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createEventBurst, findNotPersisted, startSending } from '../support/eventBurst.ts';
import { startLoadBalancer } from '../support/loadBalancer.ts';
import {
  type Environment,
  healthUrlOf,
  type Program,
  runTallyhookProcess,
  settingsFor,
  spawnProgram,
  webhookUrlOf,
} from '../support/program.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { waitFor } from '../support/waitFor.ts';

const SEED = testSeed();

let db: TestDatabase;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await db.drop();
});

async function startReceiver(more: Environment = {}) {
  const program: Program = spawnProgram(
    'bin/tallyhook.js',
    ['start', '--roles', 'receiver', '--json'],
    { env: settingsFor(db.url, more) },
  );
  cleanups.push(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return {
    program,
    webhookUrl: await webhookUrlOf(program),
    healthUrl: await healthUrlOf(program),
  };
}

async function readiness(healthUrl: string) {
  const response = await fetch(`${healthUrl}/readyz`);
  const { checks } = (await response.json()) as { checks: Readonly<Record<string, string>> };
  return { status: response.status, checks };
}

test(`receivers are replaced behind a load balancer without a refused delivery (seed ${SEED})`, async () => {
  const balancer = await startLoadBalancer({ checkEveryMs: 100 });
  cleanups.push(() => balancer.close());
  // The balancer's checks are slower than that only on a machine that does much else.
  const drain = { DRAIN_SECONDS: '5' };
  const running = [await startReceiver(drain), await startReceiver(drain)];
  for (const receiver of running) await balancer.add(receiver);
  const { deliveries } = createEventBurst(20_000, seededRandom(SEED));
  const sender = startSending(deliveries, { url: () => balancer.url, concurrency: 16 });
  cleanups.push(() => sender.stop());

  for (const { program, healthUrl, webhookUrl } of running) {
    const before = sender.acknowledged.size;
    await waitFor('deliveries', () => sender.acknowledged.size > before + 100);
    const successor = await startReceiver(drain);
    await balancer.add(successor);
    program.kill('SIGTERM');
    await waitFor('the receiver to be unready', async () => {
      const { status, checks } = await readiness(healthUrl);
      return status === 503 && checks.process === 'stops, and still serves';
    });
    // A balancer of connections, which knows no requests, keeps them until one side ends them.
    expect((await fetch(webhookUrl)).headers.get('connection')).toBe('close');
    expect(await program.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
  }
  const before = sender.acknowledged.size;
  await waitFor('deliveries', () => sender.acknowledged.size > before + 100);
  sender.stop();

  expect(balancer.refused).toEqual([]);
  expect(sender.improper).toEqual([]);
  expect(await findNotPersisted(db, sender)).toEqual([]);
});

test('a version runs on a newer schema that only adds', async () => {
  await db.query('create table of_a_newer_version (id bigint)');
  await db.query('alter table webhook_events add column of_a_newer_version text');
  await db.query(`insert into migrations (id, name, hash) values (9999, 'newer', 'h')`);
  const { healthUrl } = await startReceiver();
  expect(await readiness(healthUrl)).toMatchObject({ status: 200 });
});

const REFUSED =
  /upgraded for a newer version of Tallyhook: it needs migration 9999, and this version has migrations up to \d+\. Start the newer version/;

test('a version does not start on a schema that has lost what it uses', async () => {
  await db.query('update schema_requirements set migration = 9999');
  const exit = await runTallyhookProcess(['start', '--roles', 'receiver'], {
    env: settingsFor(db.url),
  });
  expect(exit.code).toBe(4);
  expect(exit.stderr).toMatch(REFUSED);
  const doctor = await runTallyhookProcess(['doctor', '--json'], { env: settingsFor(db.url) });
  expect(doctor.stdout).toContain('the schema needs migration 9999');
});

test('a version that runs while its schema is removed is unready, with the reason', async () => {
  const { healthUrl } = await startReceiver();
  expect(await readiness(healthUrl)).toMatchObject({ status: 200 });
  await db.query('update schema_requirements set migration = 9999');
  const { status, checks } = await readiness(healthUrl);
  expect(status).toBe(503);
  expect(checks.migrations).toMatch(REFUSED);
});

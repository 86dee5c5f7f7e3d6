/** Every process serves its health on a port of its own; the webhook port serves webhooks only. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../src/assembly/roles.ts';
import { packageVersion } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { healthUrlOf, settingsFor, spawnProgram } from '../support/program.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function run(roles?: readonly Role[]): Promise<TestTallyhook> {
  const tallyhook = await startTallyhook({ db, ...(roles && { roles }) });
  cleanups.push(() => tallyhook.close());
  return tallyhook;
}

interface Readyz {
  readonly status: number;
  readonly body: {
    readonly ready: boolean;
    readonly degraded: boolean;
    readonly checks: Readonly<Record<string, string>>;
  };
}

async function readyz({ healthUrl }: Pick<TestTallyhook, 'healthUrl'>): Promise<Readyz> {
  const response = await fetch(new URL('/readyz', healthUrl));
  return { status: response.status, body: (await response.json()) as Readyz['body'] };
}

describe('the health port', () => {
  test.each<Role>(['receiver', 'events', 'reconcile', 'alerts', 'scheduler', 'console'])(
    'of a process with the role %s serves /healthz, /readyz and /metrics',
    async (role) => {
      const { healthUrl } = await run([role]);
      const alive = await fetch(new URL('/healthz', healthUrl));
      expect(alive.status).toBe(200);
      expect(await alive.json()).toEqual({ status: 'alive', version: packageVersion() });
      expect(await readyz({ healthUrl })).toMatchObject({ status: 200, body: { ready: true } });
      const page = await (await fetch(new URL('/metrics', healthUrl))).text();
      expect(page).toContain(`tallyhook_role_up{role="${role}"} 1`);
      expect(page).toContain(`tallyhook_build_info{version="${packageVersion()}"} 1`);
      const head = await fetch(new URL('/readyz', healthUrl), { method: 'HEAD' });
      expect(head.status).toBe(200);
    },
  );

  test('is not the webhook port, which serves no health checks', async () => {
    const { webhookUrl } = await run(['receiver']);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(new URL(path, webhookUrl))).status).toBe(404);
    }
  });

  test('is a free one if the default is in use, so that a second worker starts', async () => {
    const taken = createServer().listen(8084, '127.0.0.1');
    // If another program has it already, it is in use, too.
    await Promise.race([once(taken, 'listening'), once(taken, 'error')]);
    cleanups.push(() => taken.close());
    const program = spawnProgram('bin/tallyhook.js', ['start', '--roles', 'events'], {
      env: settingsFor(db.url, { METRICS_PORT: undefined }),
    });
    cleanups.push(() => program.kill('SIGKILL'));
    const url = await healthUrlOf(program);
    expect(new URL(url).port).not.toBe('8084');
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
    expect(program.stdout()).toContain('health.default_port_in_use');
  });
});

test('a pending event that ages makes the events worker unready and the receiver degraded, until it is applied', async () => {
  const receiver = await run(['receiver']);
  expect((await receiver.deliver(eventBody(paymentObject()))).status).toBe(200);
  await db.query(`update pending set since = now() - interval '4 minutes'`);
  expect((await readyz(receiver)).body).toMatchObject({
    degraded: false,
    checks: { pending: expect.stringMatching(/^the oldest waits for 2[4-9]\d s$/) },
  });

  // Hours, because two processes start until the last check: the range leaves them 100 seconds.
  await db.query(`update pending set since = now() - interval '6 hours'`);
  const aged = { pending: expect.stringMatching(/^events are not applied: .* 216\d\d s\./) };
  expect(await readyz(receiver)).toMatchObject({
    status: 200,
    body: { ready: true, degraded: true, checks: aged },
  });
  const alerts = await run(['alerts']);
  expect(await readyz(alerts)).toMatchObject({ status: 200, body: { degraded: true } });

  const events = await db.transaction(async (tx) => {
    // Held by another transaction, so that the worker cannot apply it.
    await tx.query('select from pending for update');
    const worker = await run(['events']);
    expect(await readyz(worker)).toMatchObject({
      status: 503,
      body: { ready: false, checks: aged },
    });
    // It failed alone: it is being retried, and not forgotten.
    await tx.query('update pending set attempts = 1');
    return worker;
  });
  expect(await readyz(events)).toMatchObject({
    status: 200,
    body: { degraded: false, checks: { pending: 'no event waits' } },
  });
});

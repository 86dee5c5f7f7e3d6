/** A run reads the next window while it works on one, and no further. What fails there does not hide what fails here. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type PaymentServiceClient } from '../../src/client/index.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { waitFor } from '../support/waitFor.ts';

const PAYMENTS = 400;
const SPAN_MS = 24 * HOUR_MS;

let db: TestDatabase;
let service: TestDatabase;
let sandbox: TestSandbox;
let endMs: number;
beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), createSandboxDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  endMs = Date.now() - HOUR_MS;
  await insertPayments(
    service,
    sandbox,
    Array.from({ length: PAYMENTS }, (_, n) => {
      const createdMs = endMs - (n * SPAN_MS) / PAYMENTS;
      const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
      return { ...made, currency: 'USD', amount: 100 + n };
    }),
  );
});
afterEach(async () => {
  await sandbox.close();
  await Promise.all([db.drop(), service.drop()]);
});

/** @param onList gets the start of the window that a request is for */
function listening(onList: (startMs: number) => Promise<void> | void): PaymentServiceClient {
  const client = createClient(sandbox);
  return {
    ...client,
    payments: {
      ...client.payments,
      list: async (filter, options) => {
        const page = await client.payments.list(filter, options);
        if (filter?.limit !== 1) await onList(Date.parse(filter?.created_gte ?? ''));
        return page;
      },
    },
  };
}

async function countResources(): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from resources');
  return row?.count ?? 0;
}

async function isWaitingForLock(): Promise<boolean> {
  const rows = await db.query(
    `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

test('while a window is recorded, the next one is read, and none beyond it', async () => {
  const starts = new Set<number>();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding: Promise<void> | undefined;
  const holdCheckpoint = () =>
    new Promise<void>((resolve, reject) => {
      holding = db.transaction(async (tx) => {
        await tx.query('select id from reconcile_runs for update');
        resolve();
        await held;
      });
      holding.catch(reject);
    });
  const use = listening(async (startMs) => {
    if (starts.size === 0) await holdCheckpoint();
    starts.add(startMs);
  });
  const span = { fromMs: endMs - SPAN_MS, toMs: endMs };
  const running = testReconciler({ db, service: sandbox, use }).run(span);
  try {
    await waitFor('the second window to be read', () => starts.size === 2);
    await waitFor('the first window to be applied', async () => (await countResources()) > 0);
    await waitFor('its checkpoint to wait', isWaitingForLock);
    expect(starts.size).toBe(2);
    expect(await countResources()).toBeLessThan(PAYMENTS / 2);
  } finally {
    release();
    await holding;
  }
  expect(await running).toMatchObject({ state: 'done', remaining: 0, repaired: PAYMENTS });
});

test('a run that fails in a window fails for its reason, also if the next one cannot be read', async () => {
  let firstMs: number | undefined;
  const use = listening((startMs) => {
    firstMs ??= startMs;
    if (startMs !== firstMs) throw new Error('of the next window');
  });
  const span = { fromMs: endMs - SPAN_MS, toMs: endMs };
  const onProgress = () => {
    throw new Error('of this window');
  };
  const running = testReconciler({ db, service: sandbox, use }).run(span, { onProgress });
  await expect(running).rejects.toThrow('of this window');
});

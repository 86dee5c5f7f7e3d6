/**
 * Authorizations over their whole life: the sandbox over HTTP, real PostgreSQL, and one clock that is
 * moved for all of them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuthorizationService } from '../../src/authorizations/service.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { beginPause, endPause } from '../../src/reconcile/store/pauses.ts';
import { type Watched, watch } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

const CLASS = 'authorization_expiring';

let db: TestDatabase;
let sandbox: TestSandbox;
const fresh = async (): Promise<void> => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
};
const end = async (): Promise<void> => {
  await sandbox.close();
  await db.drop();
};

const hoursSaid = async (watched: Watched, id: string): Promise<readonly number[]> =>
  (await watched.notices(id)).filter(({ kind }) => kind === 'threshold').map(({ hours }) => hours);

const statusOf = async (id: string): Promise<string | undefined> =>
  (await db.query<{ status: string }>('select status from resources where id = $1', [id]))[0]
    ?.status;

/** Minor units that stand as held in the journal. */
const heldMinor = async (id: string): Promise<number> => {
  const rows = await db.query<{ held: number }>(
    `select coalesce(sum(case when debit = 'memo.auth_open' then amount_minor
                              when credit = 'memo.auth_open' then -amount_minor else 0 end), 0)::bigint as held
       from transfers where kind = 'payment' and resource_id = $1`,
    [id],
  );
  return rows[0]?.held ?? Number.NaN;
};

describe('an authorization that nobody captures', () => {
  beforeAll(fresh);
  afterAll(end);

  test('is spoken of once at each threshold, then released at its expiry, with the journal right', async () => {
    const watched = await watch(sandbox, db);
    const id = await watched.authorize();
    expect(await heldMinor(id)).toBe(6540);
    const at: Record<number, number> = {};
    // Every half an hour, as a scheduler would, only more seldom; to the day after the deadline.
    for (let halfHours = 0; halfHours <= 2 * 24 * 8; halfHours += 1) {
      await watched.check.run();
      for (const hours of await hoursSaid(watched, id)) at[hours] ??= halfHours / 2;
      if (halfHours / 2 < 7 * 24 - 48) expect(await watched.findings(id)).toEqual([]);
      await watched.advance(30 * MINUTE_MS);
    }
    // No webhook was applied: the service itself said that the hold had lapsed.
    expect(await statusOf(id)).toBe('expired');
    expect(await heldMinor(id)).toBe(0);
    expect(await hoursSaid(watched, id)).toEqual([48, 24, 6, 1]);
    for (const [hours, seenAt] of Object.entries(at)) {
      const due = 7 * 24 - Number(hours);
      expect(seenAt, `${hours} h`).toBeGreaterThanOrEqual(due);
      expect(seenAt, `${hours} h`).toBeLessThanOrEqual(due + 0.5);
    }
    expect(await watched.findings(id)).toEqual([]);
    const rows = await db.query('select id from findings where class = $1', [CLASS]);
    expect(rows, 'one finding, updated in place').toHaveLength(1);
    expect(await db.query('select * from authorization_watch')).toEqual([]);
    // The webhook that tells of it comes late and changes nothing.
    await watched.applyWebhooks();
    expect(await statusOf(id)).toBe('expired');
    const report = await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: false });
    expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  });
});

describe('speaking', () => {
  beforeAll(fresh);
  afterAll(end);

  test('ends with the capture, and is not begun when the service says that it was captured', async () => {
    const watched = await watch(sandbox, db);
    const [told, untold] = [await watched.authorize(), await watched.authorize()];
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await sandbox.call('POST', `/payments/${untold}/capture`, {});
    await watched.check.run();
    // Its webhook was never applied: the service was asked before anything was said.
    expect(await hoursSaid(watched, untold)).toEqual([]);
    expect(await statusOf(untold)).toBe('succeeded');
    expect(await hoursSaid(watched, told)).toEqual([48]);
    expect(await watched.findings(told)).toEqual([CLASS]);
    await sandbox.call('POST', `/payments/${told}/capture`, {});
    await watched.applyWebhooks();
    await watched.check.run();
    expect(await watched.findings(told)).toEqual([]);
    await watched.advance(3 * DAY_MS);
    await watched.check.run();
    expect(await hoursSaid(watched, told)).toEqual([48]);
  });

  test('ends with a cancellation, which releases the hold', async () => {
    const watched = await watch(sandbox, db);
    const id = await watched.authorize();
    await watched.advance(6 * DAY_MS + HOUR_MS);
    await watched.check.run();
    // Of the two that were passed, only the nearer one is said.
    expect(await hoursSaid(watched, id)).toEqual([24]);
    await sandbox.call('POST', `/payments/${id}/cancel`, {});
    await watched.applyWebhooks();
    await watched.check.run();
    expect(await watched.findings(id)).toEqual([]);
    expect(await heldMinor(id)).toBe(0);
  });

  test('goes on for what is left of a hold that may be captured in parts', async () => {
    const watched = await watch(sandbox, db);
    const id = await watched.authorize({ capture_method: 'manual_multiple' });
    await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 1000 });
    await watched.applyWebhooks();
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await watched.check.run();
    const [finding] = await db.query(
      `select detail from findings where subject = $1 and state = 'open'`,
      [`payment:${id}`],
    );
    expect(finding).toMatchObject({
      detail: { thresholdHours: 48, capturableMinor: 5540, currency: 'USD', isConfirmed: true },
    });
  });

  test('is done once by many who check at the same time', async () => {
    const watched = await watch(sandbox, db);
    const id = await watched.authorize();
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await Promise.all(Array.from({ length: 6 }, () => watched.check.run()));
    expect(await hoursSaid(watched, id)).toEqual([48]);
  });

  test('goes on when the service is away or refuses the key, unconfirmed, and nothing is given up', async () => {
    const { api_key: revoked } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
    await sandbox.control('POST', '/api_keys/revoke', { api_key: revoked });
    const watched = await watch(sandbox, db, { apiKey: revoked });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS + HOUR_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    expect(await hoursSaid(watched, id)).toEqual([0]);
    const detail = async () =>
      (
        await db.query<{ detail: object }>(
          `select detail from findings where subject = $1 and class = $2 and state = 'open'`,
          [`payment:${id}`, CLASS],
        )
      )[0]?.detail;
    expect(await detail()).toMatchObject({ thresholdHours: 0, isConfirmed: false });
    // Asked again within minutes, with a key that works: the service says what became of it.
    const healed = await watch(sandbox, db);
    await healed.advance(6 * MINUTE_MS);
    await healed.check.run();
    expect(await statusOf(id)).toBe('expired');
    expect(await detail()).toBeUndefined();
  });
});

describe('a watch that is stopped', () => {
  let proxy: RecordingProxy;
  beforeAll(async () => {
    await fresh();
    proxy = await startRecordingProxy(sandbox.baseUrl);
  });
  afterAll(async () => {
    await proxy.close();
    await end();
  });

  test('does not wait for a service that hangs, and says nothing unasked', async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const watched = await watch({ ...sandbox, baseUrl: proxy.baseUrl }, db, { signal });
    const id = await watched.authorize();
    await watched.advance(6 * DAY_MS + HOUR_MS);
    // Longer than the test may take.
    const hanging = { fault: 'timeout_after', method: 'GET', hold_ms: 120_000 };
    await sandbox.control('PUT', '/faults', { requests: [hanging] });
    const run = watched.check.run();
    await proxy.reached(1);
    stopping.abort();
    await run;
    expect(await hoursSaid(watched, id)).toEqual([]);
    await sandbox.control('DELETE', '/faults');
    await (await watch(sandbox, db)).check.run();
    expect(await hoursSaid(watched, id)).toEqual([24]);
  });
});

describe('the deadline in the ledger', () => {
  beforeAll(fresh);
  afterAll(end);

  const CREATED = Date.UTC(2026, 10, 1, 9);
  const deadlineOf = async (
    bodies: readonly { readonly fields?: object; readonly timestamp: string }[],
  ): Promise<string | undefined> => {
    const payment = paymentObject({
      status: 'requires_capture',
      capture_method: 'manual_multiple',
      amount_received: 0,
      amount_capturable: 6540,
      created: new Date(CREATED).toISOString(),
    });
    const events = bodies.map(({ fields, timestamp }, place) => {
      const modified = new Date(CREATED + place * 1000).toISOString();
      return eventBody({ ...payment, modified_at: modified, ...fields }, { timestamp });
    });
    await applyEach(db, testApplier(db), events);
    await (await watch(sandbox, db, { service: undefined })).check.look(payment.payment_id);
    const rows = await db.query<{ at: Date }>(
      'select deadline_at as at from authorization_watch where payment_id = $1',
      [payment.payment_id],
    );
    return rows[0]?.at.toISOString();
  };

  test('is seven days from the first event that told of the hold, late copies and part captures aside', async () => {
    const late = { timestamp: '2026-11-05T09:00:00.000Z', fields: { description: 'a late copy' } };
    const held = { timestamp: '2026-11-03T12:00:00.000Z' };
    expect(await deadlineOf([held])).toBe('2026-11-10T12:00:00.000Z');
    expect(await deadlineOf([late, held])).toBe('2026-11-10T12:00:00.000Z');
    const part = {
      timestamp: '2026-11-04T12:00:00.000Z',
      fields: {
        status: 'partially_captured_and_capturable',
        amount_received: 1000,
        amount_capturable: 5540,
      },
    };
    // The event that told of the hold was lost.
    expect(await deadlineOf([part])).toBe('2026-11-08T09:00:00.000Z');
    expect(await deadlineOf([held, part])).toBe('2026-11-10T12:00:00.000Z');
  });

  test("is the service's own where that is sooner", async () => {
    const timestamp = '2026-11-01T09:00:00.000Z';
    const by = (capture_before: string) => deadlineOf([{ timestamp, fields: { capture_before } }]);
    expect(await by('2026-11-04T00:00:00.000Z')).toBe('2026-11-04T00:00:00.000Z');
    expect(await by('2026-11-30T00:00:00.000Z')).toBe('2026-11-08T09:00:00.000Z');
  });
});

describe('a policy', () => {
  beforeAll(fresh);
  afterAll(end);

  test('captures at its threshold, once, and not before; without one nothing is done', async () => {
    const watched = await watch(sandbox, db, { policy: { action: 'capture', hours: 6 } });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - 7 * HOUR_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    await watched.advance(HOUR_MS + MINUTE_MS);
    await Promise.all([watched.check.run(), watched.check.run(), watched.check.run()]);
    expect(await statusOf(id)).toBe('succeeded');
    expect(await watched.notices(id)).toEqual([
      { kind: 'threshold', hours: 24, outcome: null },
      { kind: 'threshold', hours: 6, outcome: null },
      { kind: 'policy', hours: 6, outcome: 'done' },
    ]);
    expect(await watched.findings(id)).toEqual([]);
    expect(await heldMinor(id)).toBe(0);
  });

  test('cancels where it is told to', async () => {
    const watched = await watch(sandbox, db, { policy: { action: 'cancel', hours: 1 } });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - 30 * MINUTE_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('cancelled');
  });

  test('waits for a service that is away, and for the end of a pause, and acts then', async () => {
    const policy = { action: 'capture', hours: 1 } as const;
    const watched = await watch(sandbox, db, { policy });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - HOUR_MS);
    await beginPause(db, { by: 'test', reason: 'maintenance' });
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    // Time goes on, and is spoken of, while nothing may be asked.
    expect(await hoursSaid(watched, id)).toEqual([1]);
    await endPause(db, 'test');
    await watched.advance(6 * MINUTE_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('succeeded');
  });

  test('stops within a run that is under way when a pause begins', async () => {
    const asked: string[] = [];
    const service: AuthorizationService = {
      refresh: async () => {
        asked.push('refresh');
        await beginPause(db, { by: 'test', reason: 'a test' });
        return { outcome: 'applied' };
      },
      act: ({ action }) => {
        asked.push(action);
        return Promise.resolve({ outcome: 'done' });
      },
    };
    const policy = { action: 'capture', hours: 6 } as const;
    const watched = await watch(sandbox, db, { policy, service });
    const ids = [await watched.authorize(), await watched.authorize()];
    await watched.advance(7 * DAY_MS - 5 * HOUR_MS);
    await watched.check.run();
    await endPause(db, 'test');
    expect(asked).toEqual(['refresh']);
    const said = await Promise.all(ids.map((id) => watched.notices(id)));
    expect(said.flat()).toEqual(ids.map(() => ({ kind: 'threshold', hours: 6, outcome: null })));
  });

  test('never acts past the deadline', async () => {
    const watched = await watch(sandbox, db, { policy: { action: 'capture', hours: 1 } });
    const id = await watched.authorize();
    await watched.advance(8 * DAY_MS);
    await watched.check.run();
    expect((await watched.notices(id)).filter(({ kind }) => kind === 'policy')).toEqual([]);
    expect(await statusOf(id)).toBe('expired');
  });
});

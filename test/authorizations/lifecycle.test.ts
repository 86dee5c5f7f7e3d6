/** Authorizations from hold to capture or expiry, with the sandbox over HTTP and PostgreSQL on one clock. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuthorizationService } from '../../src/authorizations/authorizationService.ts';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { beginPause, endPause } from '../../src/reconcile/store/pauses.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
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

const remindersOf = async (
  watched: AuthorizationTestSetup,
  id: string,
): Promise<readonly number[]> =>
  (await watched.logOf(id)).filter(({ kind }) => kind === 'threshold').map(({ hours }) => hours);

const sentenceOf = async (id: string): Promise<string | undefined> =>
  (
    await db.query<{ sentence: string }>(
      `select sentence from alerts where subject = $1 and state <> 'resolved'`,
      [`payment:${id}`],
    )
  )[0]?.sentence;

const statusOf = async (id: string): Promise<string | undefined> =>
  (await db.query<{ status: string }>('select status from resources where id = $1', [id]))[0]
    ?.status;

/** Minor units held in the journal. */
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

  test('has one reminder at each threshold, then expires, and the journal releases the hold', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
    const id = await watched.authorize();
    expect(await heldMinor(id)).toBe(6540);
    const at: Record<number, number> = {};
    // Every half hour, to the day after the deadline.
    for (let halfHours = 0; halfHours <= 2 * 24 * 8; halfHours += 1) {
      await watched.check.run();
      for (const hours of await remindersOf(watched, id)) at[hours] ??= halfHours / 2;
      if (halfHours / 2 < 7 * 24 - 48) expect(await watched.findings(id)).toEqual([]);
      await watched.advance(30 * MINUTE_MS);
    }
    // No webhook was applied: a retrieve showed that the hold had expired.
    expect(await statusOf(id)).toBe('expired');
    expect(await heldMinor(id)).toBe(0);
    expect(await remindersOf(watched, id)).toEqual([48, 24, 6, 1]);
    for (const [hours, seenAt] of Object.entries(at)) {
      const due = 7 * 24 - Number(hours);
      expect(seenAt, `${hours} h`).toBeGreaterThanOrEqual(due);
      expect(seenAt, `${hours} h`).toBeLessThanOrEqual(due + 0.5);
    }
    expect(await watched.findings(id)).toEqual([]);
    const rows = await db.query('select id from findings where class = $1', [CLASS]);
    expect(rows, 'one finding, updated in place').toHaveLength(1);
    expect(await db.query('select * from authorization_watch')).toEqual([]);
    // Its webhook comes late and changes nothing.
    await watched.applyWebhooks();
    expect(await statusOf(id)).toBe('expired');
    const report = await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: false });
    expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
  });
});

describe('reminders', () => {
  beforeAll(fresh);
  afterAll(end);

  test('end with the capture, and are not sent when a retrieve shows that it was captured', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
    const [known, unknown] = [await watched.authorize(), await watched.authorize()];
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await sandbox.call('POST', `/payments/${unknown}/capture`, {});
    await watched.check.run();
    // Its webhook was never applied: the payment was retrieved before the reminder.
    expect(await remindersOf(watched, unknown)).toEqual([]);
    expect(await statusOf(unknown)).toBe('succeeded');
    expect(await remindersOf(watched, known)).toEqual([48]);
    expect(await watched.findings(known)).toEqual([CLASS]);
    await sandbox.call('POST', `/payments/${known}/capture`, {});
    await watched.applyWebhooks();
    await watched.check.run();
    expect(await watched.findings(known)).toEqual([]);
    await watched.advance(3 * DAY_MS);
    await watched.check.run();
    expect(await remindersOf(watched, known)).toEqual([48]);
  });

  test('end with a cancellation, which releases the hold', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
    const id = await watched.authorize();
    await watched.advance(6 * DAY_MS + HOUR_MS);
    await watched.check.run();
    // Only the later of the two passed thresholds sends a reminder.
    expect(await remindersOf(watched, id)).toEqual([24]);
    await sandbox.call('POST', `/payments/${id}/cancel`, {});
    await watched.applyWebhooks();
    await watched.check.run();
    expect(await watched.findings(id)).toEqual([]);
    expect(await heldMinor(id)).toBe(0);
  });

  test('continue for the rest of a partly captured hold', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
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
      detail: { threshold_hours: 48, amount_capturable: 5540, currency: 'USD' },
    });
  });

  test('have alert and finding show the rest once a part is captured, without another notification', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
    const id = await watched.authorize({ capture_method: 'manual_multiple' });
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await watched.check.run();
    const shown = async () => ({
      alerts: await db.query(
        `select rule, detail->'capturableMinor' as minor, sentence from alerts
          where subject = $1 and state <> 'resolved'`,
        [`payment:${id}`],
      ),
      findings: await db.query(
        `select detail->'amount_capturable' as minor from findings where subject = $1 and state = 'open'`,
        [`payment:${id}`],
      ),
    });
    expect(await shown()).toMatchObject({
      alerts: [{ minor: 6540, sentence: expect.stringContaining('of 65.40 USD') }],
      findings: [{ minor: 6540 }],
    });
    const sent = () =>
      db.query(
        'select type from alert_outbox o join alerts a on a.id = o.alert_id where a.subject = $1',
        [`payment:${id}`],
      );
    const before = await sent();

    await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 1000 });
    await watched.applyWebhooks();
    await watched.check.run();

    expect(await shown()).toMatchObject({
      alerts: [
        {
          rule: 'authorization_expiring',
          minor: 5540,
          sentence: expect.not.stringContaining('out of date'),
        },
      ],
      findings: [{ minor: 5540 }],
    });
    expect(await sent()).toEqual(before);
    expect(await remindersOf(watched, id)).toEqual([48]);
  });

  test('are sent once by concurrent checks', async () => {
    const watched = await setUpAuthorizations(sandbox, db);
    const id = await watched.authorize();
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await Promise.all(Array.from({ length: 6 }, () => watched.check.run()));
    expect(await remindersOf(watched, id)).toEqual([48]);
  });

  test('continue, unconfirmed, while the service is unavailable or refuses the API key', async () => {
    const { api_key: revoked } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
    await sandbox.control('POST', '/api_keys/revoke', { api_key: revoked });
    const watched = await setUpAuthorizations(sandbox, db, { apiKey: revoked });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS + HOUR_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    expect(await remindersOf(watched, id)).toEqual([0]);
    const detail = async () =>
      (
        await db.query<{ detail: object }>(
          `select detail from findings where subject = $1 and class = $2 and state = 'open'`,
          [`payment:${id}`, CLASS],
        )
      )[0]?.detail;
    expect(await detail()).toMatchObject({ threshold_hours: 0 });
    expect(await sentenceOf(id)).toContain('The service did not respond');
    // Retrieved again within minutes, with a valid key: the response shows that it expired.
    const recovered = await setUpAuthorizations(sandbox, db);
    await recovered.advance(6 * MINUTE_MS);
    await recovered.check.run();
    expect(await statusOf(id)).toBe('expired');
    expect(await detail()).toBeUndefined();
  });

  test('leave a finding accepted when the service confirms the same hold later', async () => {
    const { api_key: revoked } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
    await sandbox.control('POST', '/api_keys/revoke', { api_key: revoked });
    const watched = await setUpAuthorizations(sandbox, db, { apiKey: revoked });
    const id = await watched.authorize();
    await watched.advance(5 * DAY_MS + HOUR_MS);
    await watched.check.run();
    const finding = async () =>
      (
        await db.query<{ id: number; reason: string | null }>(
          `select id, accepted_reason as reason from findings where subject = $1 and state = 'open'`,
          [`payment:${id}`],
        )
      )[0];
    await acceptFinding(db, (await finding())?.id ?? 0, { by: 'ada', reason: 'ships on Friday' });
    expect(await sentenceOf(id)).toContain('The service did not respond');
    await watched.check.checkOne(id, true);
    expect(await sentenceOf(id)).not.toContain('The service did not respond');
    expect(await finding()).toMatchObject({ reason: 'ships on Friday' });
  });
});

describe('a check during shutdown', () => {
  let proxy: RecordingProxy;
  beforeAll(async () => {
    await fresh();
    proxy = await startRecordingProxy(sandbox.baseUrl);
  });
  afterAll(async () => {
    await proxy.close();
    await end();
  });

  test('does not wait for a service that hangs, and sends no unconfirmed reminder', async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, {
      signal,
    });
    const id = await watched.authorize();
    await watched.advance(6 * DAY_MS + HOUR_MS);
    // Longer than the test may take.
    const hanging = { fault: 'timeout_after', method: 'GET', hold_ms: 120_000 };
    await sandbox.control('PUT', '/faults', { requests: [hanging] });
    const run = watched.check.run();
    await proxy.waitForRequests(1);
    stopping.abort();
    await run;
    expect(await remindersOf(watched, id)).toEqual([]);
    await sandbox.control('DELETE', '/faults');
    await (await setUpAuthorizations(sandbox, db)).check.run();
    expect(await remindersOf(watched, id)).toEqual([24]);
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
    const events = bodies.map(({ fields, timestamp }, index) => {
      const modified = new Date(CREATED + index * 1000).toISOString();
      return eventBody({ ...payment, modified_at: modified, ...fields }, { timestamp });
    });
    await applyEach(db, testApplier(db), events);
    await (await setUpAuthorizations(sandbox, db, { service: undefined })).check.checkOne(
      payment.payment_id,
      false,
    );
    const rows = await db.query<{ at: Date }>(
      'select deadline_at as at from authorization_watch where payment_id = $1',
      [payment.payment_id],
    );
    return rows[0]?.at.toISOString();
  };

  test('is seven days after the first event of the hold, despite late copies and partial captures', async () => {
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
    // The event of the hold was lost.
    expect(await deadlineOf([part])).toBe('2026-11-08T09:00:00.000Z');
    expect(await deadlineOf([held, part])).toBe('2026-11-10T12:00:00.000Z');
  });

  test("is the service's capture_before where that is earlier", async () => {
    const timestamp = '2026-11-01T09:00:00.000Z';
    const by = (capture_before: string) => deadlineOf([{ timestamp, fields: { capture_before } }]);
    expect(await by('2026-11-04T00:00:00.000Z')).toBe('2026-11-04T00:00:00.000Z');
    expect(await by('2026-11-30T00:00:00.000Z')).toBe('2026-11-08T09:00:00.000Z');
  });
});

describe('a policy', () => {
  beforeAll(fresh);
  afterAll(end);

  test('captures once, at its threshold and not earlier', async () => {
    const watched = await setUpAuthorizations(sandbox, db, {
      policy: { action: 'capture', hours: 6 },
    });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - 7 * HOUR_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    await watched.advance(HOUR_MS + MINUTE_MS);
    await Promise.all([watched.check.run(), watched.check.run(), watched.check.run()]);
    expect(await statusOf(id)).toBe('succeeded');
    expect(await watched.logOf(id)).toEqual([
      { kind: 'threshold', hours: 24, outcome: null },
      { kind: 'threshold', hours: 6, outcome: null },
      { kind: 'policy', hours: 6, outcome: 'done' },
    ]);
    expect(await watched.findings(id)).toEqual([]);
    expect(await heldMinor(id)).toBe(0);
  });

  test('cancels if that is its action', async () => {
    const watched = await setUpAuthorizations(sandbox, db, {
      policy: { action: 'cancel', hours: 1 },
    });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - 30 * MINUTE_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('cancelled');
  });

  test('acts after a pause, not during it', async () => {
    const policy = { action: 'capture', hours: 1 } as const;
    const watched = await setUpAuthorizations(sandbox, db, { policy });
    const id = await watched.authorize();
    await watched.advance(7 * DAY_MS - HOUR_MS);
    await beginPause(db, { by: 'test', reason: 'maintenance' });
    await watched.check.run();
    expect(await statusOf(id)).toBe('requires_capture');
    // Reminders continue while no request may be sent.
    expect(await remindersOf(watched, id)).toEqual([1]);
    await endPause(db, 'test');
    await watched.advance(6 * MINUTE_MS);
    await watched.check.run();
    expect(await statusOf(id)).toBe('succeeded');
  });

  test('sends no further request once a pause begins during a run', async () => {
    const requested: string[] = [];
    const service: AuthorizationService = {
      refresh: async () => {
        requested.push('refresh');
        await beginPause(db, { by: 'test', reason: 'a test' });
        return { outcome: 'applied' };
      },
      act: ({ action }) => {
        requested.push(action);
        return Promise.resolve({ outcome: 'done' });
      },
    };
    const policy = { action: 'capture', hours: 6 } as const;
    const watched = await setUpAuthorizations(sandbox, db, { policy, service });
    const ids = [await watched.authorize(), await watched.authorize()];
    await watched.advance(7 * DAY_MS - 5 * HOUR_MS);
    await watched.check.run();
    await endPause(db, 'test');
    expect(requested).toEqual(['refresh']);
    const entries = await Promise.all(ids.map((id) => watched.logOf(id)));
    expect(entries.flat()).toEqual(ids.map(() => ({ kind: 'threshold', hours: 6, outcome: null })));
  });

  test('never acts after the deadline', async () => {
    const watched = await setUpAuthorizations(sandbox, db, {
      policy: { action: 'capture', hours: 1 },
    });
    const id = await watched.authorize();
    await watched.advance(8 * DAY_MS);
    await watched.check.run();
    expect((await watched.logOf(id)).filter(({ kind }) => kind === 'policy')).toEqual([]);
    expect(await statusOf(id)).toBe('expired');
  });
});

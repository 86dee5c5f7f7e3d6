/**
 * A policy that captures or cancels holds retries while that is safe, and never captures twice. Numbers
 * refer to the rules of src/authorizations/domain/attempts.ts. A proxy in front of the sandbox counts
 * requests.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuthorizationService } from '../../src/authorizations/authorizationService.ts';
import { claimAttempt } from '../../src/authorizations/store/authorizations.ts';
import type { RefreshOutcome } from '../../src/outcomes/refresh.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { readStoredAlerts } from '../support/alerts.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

const WEEK_MS = 7 * 24 * HOUR_MS;
const policy = { action: 'capture', hours: 6 } as const;

let db: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  proxy = await startRecordingProxy(sandbox.baseUrl);
});
afterEach(async () => {
  await proxy.close();
  await sandbox.close();
  await db.drop();
});

/** A hold that is due for capture by the policy. Requests pass through the proxy. */
async function dueHold(options: Parameters<typeof setUpAuthorizations>[2] = {}) {
  const watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, {
    policy,
    ...options,
  });
  const id = await watched.authorize();
  await watched.advance(WEEK_MS - 6 * HOUR_MS + MINUTE_MS);
  return { watched, id };
}

/** Runs the check in several schedulers at the same time. */
const check = (watched: AuthorizationTestSetup) =>
  Promise.all([watched.check.run(), watched.check.run(), watched.check.run()]);

const captures = () =>
  proxy.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/capture'));
const fault = (requests: readonly object[], more: object = {}) =>
  sandbox.control('PUT', '/faults', { requests, ...more });
const onCapture = (id: string, fields: object) => ({ path: `/payments/${id}/capture`, ...fields });

const statusOf = async (id: string) =>
  (await db.query<{ status: string }>('select status from resources where id = $1', [id]))[0]
    ?.status;
const capturedMinor = async (id: string) =>
  (
    await db.query<{ minor: number }>(
      'select captured_minor as minor from resources where id = $1',
      [id],
    )
  )[0]?.minor;
const outcomes = async (watched: AuthorizationTestSetup, id: string) =>
  (await watched.logOf(id)).filter(({ kind }) => kind === 'policy').map(({ outcome }) => outcome);
const alerts = async (id: string) =>
  (await readStoredAlerts(db, [`payment:${id}`])).map(({ rule, severity, state, notifications }) =>
    [rule, severity, state, ...notifications].join(' '),
  );
const sentence = async (id: string) =>
  (
    await db.query<{ sentence: string }>(
      'select sentence from alerts where subject = $1 order by id desc limit 1',
      [`payment:${id}`],
    )
  )[0]?.sentence;

test('a capture that the service could not process is retried until it is done, and the alert reports it (rule 2)', async () => {
  const { watched, id } = await dueHold();
  await fault([onCapture(id, { fault: 'server_error', status: 503, times: 2 })]);
  await check(watched);
  await check(watched);
  expect(captures()).toHaveLength(1);
  expect(await statusOf(id)).toBe('requires_capture');
  expect(await sentence(id)).toMatch(
    /expires at .* Capture it before then.* The policy tried to capture it at .* and failed without effect: .*capturePayment: HTTP 503 .* It tries again at .* UTC/,
  );
  expect(await alerts(id)).toEqual(['authorization_expiring critical open opened reminder']);

  await watched.advance(MINUTE_MS + 1_000);
  await check(watched);
  expect(captures()).toHaveLength(2);
  expect(await sentence(id)).toContain('for the 2nd time');
  await watched.advance(2 * MINUTE_MS + 1_000);
  await check(watched);
  await watched.advance(HOUR_MS);
  await check(watched);
  expect(captures()).toHaveLength(3);
  expect(await statusOf(id)).toBe('succeeded');
  expect(await capturedMinor(id)).toBe(6540);
  expect(await outcomes(watched, id)).toEqual([
    expect.stringMatching(/^failed: .*503/),
    expect.stringMatching(/^failed: .*503/),
    'done',
  ]);
  expect(await alerts(id)).toEqual([
    'authorization_expiring critical resolved opened reminder resolved',
  ]);
});

test.each([
  ['cut_after', 0],
  ['cut_after', 20_000],
  ['mixed_up', 0],
] as const)(
  'a capture with the response %s is sent once, while retrieves lag by %d ms (rule 3)',
  async (response, lagMs) => {
    const watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, {
      policy,
    });
    await fault([], { retrieves: { lag_ms: lagMs } });
    const id = await watched.authorize();
    await watched.advance(WEEK_MS - 6 * HOUR_MS + MINUTE_MS);
    await fault([onCapture(id, { fault: response, times: 1 })], {
      retrieves: { lag_ms: lagMs },
    });
    for (let minutes = 0; minutes < 30; minutes += 1) {
      await check(watched);
      await watched.advance(MINUTE_MS);
    }
    expect(captures()).toHaveLength(1);
    expect(await statusOf(id)).toBe('succeeded');
    expect(await capturedMinor(id)).toBe(6540);
  },
);

test('a capture that never reached the service is sent again after ten minutes (rule 3)', async () => {
  const { watched, id } = await dueHold();
  await fault([onCapture(id, { fault: 'cut_before', times: 1 })]);
  for (let minutes = 0; minutes < 9; minutes += 1) {
    await check(watched);
    await watched.advance(MINUTE_MS);
  }
  expect(captures()).toHaveLength(1);
  await watched.advance(2 * MINUTE_MS);
  await check(watched);
  expect(captures()).toHaveLength(2);
  expect(await statusOf(id)).toBe('succeeded');
});

test('an attempt of a process that ended before the response is retried by others only after the wait (rule 3)', async () => {
  const { watched, id } = await dueHold();
  const claim = () =>
    claimAttempt(db, {
      paymentId: id,
      deadlineAt: new Date(watched.clock.nowMs() + 6 * HOUR_MS),
      thresholdHours: 6,
      currency: 'USD',
      capturableMinor: 6540,
      action: 'capture',
      attempt: 1,
      at: new Date(watched.clock.nowMs()),
    });
  const claims = await Promise.all(Array.from({ length: 10 }, claim));
  expect(claims.filter((number) => number !== undefined)).toHaveLength(1);
  await check(watched);
  expect(captures()).toHaveLength(0);
  await watched.advance(11 * MINUTE_MS);
  await check(watched);
  expect(captures()).toHaveLength(1);
  expect(await statusOf(id)).toBe('succeeded');
  expect(await outcomes(watched, id)).toEqual([null, 'done']);
});

test('a hold that shrank after an attempt of unknown outcome is left to a person (rule 3)', async () => {
  const watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, { policy });
  const id = await watched.authorize({ capture_method: 'manual_multiple' });
  await watched.advance(WEEK_MS - 6 * HOUR_MS + MINUTE_MS);
  await fault([onCapture(id, { fault: 'cut_before', times: 1 })]);
  await check(watched);
  await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: 1000 });
  await watched.advance(HOUR_MS);
  await check(watched);
  await watched.applyWebhooks();
  await watched.advance(4.5 * HOUR_MS);
  await check(watched);
  expect(captures()).toHaveLength(1);
  expect(await capturedMinor(id)).toBe(1000);
  expect(await sentence(id)).toMatch(
    /the result is unknown: no response arrived. It does not try again/,
  );
});

test('an attempt is claimed in a commit of its own before its request is sent', async () => {
  const claimed: unknown[] = [];
  const service: AuthorizationService = {
    refresh: () => Promise.resolve({ outcome: 'applied' }),
    act: async ({ paymentId, action }) => {
      // Read on another connection, as another process would while the request is in progress.
      claimed.push(
        await db.query(
          `select action, attempt, outcome from authorization_log
            where payment_id = $1 and kind = 'policy'`,
          [paymentId],
        ),
      );
      return { outcome: 'unknown', reason: `no response to the ${action}` };
    },
  };
  const { watched } = await dueHold({ service });
  await check(watched);
  expect(claimed).toEqual([[{ action: 'capture', attempt: 1, outcome: null }]]);
});

test.each([
  ['is unavailable', { outcome: 'failed', reason: 'HTTP 503', isUnavailable: true }],
  ['does not know the payment', { outcome: 'failed', reason: 'HTTP 404', isUnavailable: false }],
  ['sends no response before the process stops', { outcome: 'stopped' }],
] as const)(
  'nothing is captured without a fresh confirmation by a service that %s',
  async (_, unconfirmed) => {
    const sent: string[] = [];
    let response: RefreshOutcome = unconfirmed;
    const service: AuthorizationService = {
      refresh: () => Promise.resolve(response),
      act: ({ action }) => {
        sent.push(action);
        return Promise.resolve({ outcome: 'done' });
      },
    };
    const { watched, id } = await dueHold({ service });
    for (let runs = 0; runs < 3; runs += 1) {
      await check(watched);
      await watched.advance(10 * MINUTE_MS);
    }
    expect(sent).toEqual([]);
    expect(await outcomes(watched, id)).toEqual([]);
    response = { outcome: 'applied' };
    await check(watched);
    expect(sent).toEqual(['capture']);
  },
);

test('a refusal is final, and the alert names the next step (rule 4)', async () => {
  const sent: string[] = [];
  const service: AuthorizationService = {
    refresh: () => Promise.resolve({ outcome: 'applied' }),
    act: ({ action }) => {
      sent.push(action);
      return Promise.resolve({ outcome: 'refused', reason: 'HTTP 400 IR_14: not capturable' });
    },
  };
  const { watched, id } = await dueHold({ service });
  await check(watched);
  await watched.advance(HOUR_MS);
  await check(watched);
  expect(sent).toEqual(['capture']);
  expect(await sentence(id)).toMatch(
    /the service refused it: .*HTTP 400 IR_14: not capturable.*It does not try again: act by hand\./,
  );
});

test('attempts end with the deadline (rule 1)', async () => {
  const { watched, id } = await dueHold();
  await fault([onCapture(id, { fault: 'server_error', status: 503 })]);
  for (let minutes = 0; minutes < 7 * 60; minutes += 10) {
    await check(watched);
    await watched.advance(10 * MINUTE_MS);
  }
  const count = captures().length;
  expect(count).toBeGreaterThan(10);
  await watched.advance(24 * HOUR_MS);
  await check(watched);
  expect(captures()).toHaveLength(count);
  expect(await statusOf(id)).toBe('expired');
});

test.each(['capture', 'cancel'] as const)(
  'the response to a %s resolves the alert, even while retrieves lag',
  async (action) => {
    const watched = await setUpAuthorizations(sandbox, db, { policy: { action, hours: 1 } });
    await fault([], { retrieves: { lag_ms: 20_000 } });
    const id = await watched.authorize();
    await watched.advance(WEEK_MS - 2 * HOUR_MS);
    await check(watched);
    expect(await alerts(id)).toEqual(['authorization_expiring critical open opened']);
    await watched.advance(HOUR_MS + MINUTE_MS);
    await check(watched);
    expect(await statusOf(id)).toBe(action === 'capture' ? 'succeeded' : 'cancelled');
    expect((await alerts(id))[0]).toMatch(/^authorization_expiring critical resolved/);
    // A lagging retrieve afterwards changes nothing.
    await watched.advance(5 * MINUTE_MS);
    await check(watched);
    expect(await statusOf(id)).toBe(action === 'capture' ? 'succeeded' : 'cancelled');
    expect(await alerts(id)).toHaveLength(1);
  },
);

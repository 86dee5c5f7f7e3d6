/** While the service is unusable there is one finding, requests back off, and resources do not change. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRefresh } from '../../src/reconcile/refresh.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { API_KEY } from '../client/paymentService.ts';
import { silentLog } from '../support/database.ts';
import { eventBody } from '../support/events.ts';
import { applyEach, readResourceStates, testApplier } from '../support/ledger.ts';
import { type OnePayment, PAID, startOnePayment } from './onePayment.ts';

let db: OnePayment['db'];
let service: OnePayment['service'];
let reconciler: OnePayment['reconciler'];
const id = PAID.payment_id;

beforeEach(async () => {
  ({ db, service, reconciler } = await startOnePayment());
});
afterEach(async () => {
  await db.drop();
});

const openFindings = () =>
  db.query(`select class, subject from findings where state = 'open' order by class`);

/** Makes the service respond to lists and retrieves with the payment. */
function recover(): void {
  service.always = ({ path }) => ({
    status: 200,
    body: path.startsWith('/payments/list') ? { count: 1, total_count: 1, data: [PAID] } : PAID,
  });
}

const FAILURES = [
  ['a wrong key', 401, { error: { type: 'authentication_error', code: 'AU_01', message: 'no' } }],
  ['a revoked key', 401, { error: { type: 'authentication_error', code: 'AU_02', message: 'no' } }],
  ['a wrong base URL', 404, '<h1>Not Found</h1>'],
  ['a service that is down', 503, '<h1>Unavailable</h1>'],
  ['garbage', 200, '<h1>Welcome</h1>'],
] as const;

test.each(FAILURES)(
  '%s prevents a run from starting, and the next run repairs the payment',
  async (_, status, body) => {
    const before = await readResourceStates(db, [id]);
    service.always = () => ({ status, body });
    const span = { fromMs: Date.UTC(2026, 9, 1) };

    // The run fails before it is recorded.
    await expect(reconciler.run(span)).rejects.toThrow();

    expect(await readResourceStates(db, [id])).toEqual(before);
    expect(await openFindings()).toEqual([
      { class: 'service_unusable', subject: 'service:payments' },
    ]);
    recover();
    expect(await reconciler.run(span)).toMatchObject({ state: 'done', repaired: 1, remaining: 0 });
    expect(await openFindings()).toEqual([]);
  },
);

test('a list that rejects the page limit is read with a smaller one, which is stored', async () => {
  recover();
  const respond = service.always;
  service.always = (request) => {
    const { limit = 0 } = (request.body ?? {}) as { readonly limit?: number };
    const error = { type: 'invalid_request', code: 'IR_06', message: 'limit should be at most 20' };
    return limit > 20 || !respond ? { status: 400, body: { error } } : respond(request);
  };
  const report = await reconciler.run({ fromMs: Date.UTC(2026, 9, 1) });
  expect(report).toMatchObject({ state: 'done', repaired: 1, remaining: 0 });
  const known = await db.query(
    `select page_limit as "limit" from reconcile_streams where stream = 'payments'`,
  );
  expect(known).toEqual([{ limit: 20 }]);
});

test('a failure over several runs is one finding, regardless of other lists', async () => {
  // Lists work, and retrieves fail.
  service.always = ({ path }) => {
    const data = path === '/payments/list' ? [PAID] : [];
    const page = { count: data.length, total_count: data.length, data };
    return path.endsWith('/list') ? { status: 200, body: page } : { status: 503, body: '' };
  };
  const findings = () =>
    db.query(
      `select subject, opened_at from findings where class = 'service_unusable' order by id`,
    );
  expect(await reconciler.run()).toMatchObject({ state: 'failed' });
  const first = await findings();
  expect(first).toMatchObject([{ subject: 'service:payments' }]);
  expect(await reconciler.run()).toMatchObject({ state: 'failed' });
  expect(await reconciler.run({ cause: 'night' })).toMatchObject({ state: 'failed' });
  expect(await reconciler.run({ stream: 'refunds' })).toMatchObject({ state: 'done' });
  expect(await findings()).toEqual(first);
  expect(await openFindings()).toHaveLength(1);
});

function retrieveAt(clock: Clock) {
  const client = createClient({
    baseUrl: service.baseUrl,
    apiKey: API_KEY,
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 2 },
  });
  const account = { merchantId: undefined, profileId: undefined };
  return createRetrieve({ db, client, clock, account });
}

function refreshAt(clock: Clock, waits: number[] = [], refreshed = db) {
  return createRefresh({
    db: refreshed,
    retrieve: retrieveAt(clock),
    clock,
    metrics: createReconcileMetrics(createMetrics()),
    log: silentLog,
    sleep: (delayMs) => {
      waits.push(delayMs);
      return Promise.resolve();
    },
  });
}

const LATER = { nowMs: () => Date.now() + 3 * 60_000 };

test('a resource that is not final is retrieved when it is due, and not earlier', async () => {
  recover();
  const signal = new AbortController().signal;
  expect(await refreshAt(systemClock).round(signal)).toMatchObject({ checked: 0 });
  expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 1 });
  expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
});

test('a resource that a webhook has settled in the meantime is not retrieved', async () => {
  await applyEach(db, testApplier(db), [eventBody(PAID)]);
  const round = await refreshAt(LATER).round(new AbortController().signal);
  expect(round).toMatchObject({ checked: 0, settled: 1 });
  expect(service.received).toEqual([]);
  const due = await db.query('select id from resources where next_check_at is not null');
  expect(due).toEqual([]);
});

const FAILED = { ...PAID, status: 'failed', amount_received: 0 };
const A_SECOND_LATER = new Date(Date.parse(PAID.modified_at) + 1_000).toISOString();

async function retrieveChanged(changes: object): Promise<void> {
  service.always = () => ({ status: 200, body: { ...FAILED, ...changes } });
  const { outcome } = await retrieveAt(LATER)({ kind: 'payment', id }, { lane: 'refresh' });
  expect(outcome).toBe('applied');
}

const UNSETTLING = [
  {
    how: 'is confirmed again',
    unsettle: (applier: EventApplier) =>
      applyEach(db, applier, [
        eventBody({ ...FAILED, status: 'processing', modified_at: A_SECOND_LATER }),
      ]),
    resource: { status: 'processing' },
  },
  {
    how: 'is retrieved without a currency',
    unsettle: () => retrieveChanged({ modified_at: A_SECOND_LATER, currency: undefined }),
    resource: { status: 'failed', uncertainties: ['incomplete'], contradiction: null },
  },
  {
    how: 'is contradicted by a retrieve',
    unsettle: () => retrieveChanged({ status: 'processing' }),
    resource: { status: 'failed', uncertainties: [], contradiction: expect.anything() },
  },
];

test.each(UNSETTLING.map((one) => [one.how, one] as const))(
  'a resource that %s when its check would be dropped keeps it',
  async (_, { unsettle, resource }) => {
    const applier = testApplier(db);
    await applyEach(db, applier, [eventBody(FAILED)]);
    const racing: typeof db = {
      ...db,
      query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
        const rows = await db.query<Row>(text, values);
        const isClaim = text.includes('for update skip locked') && rows.length > 0;
        if (isClaim) await unsettle(applier);
        return rows;
      },
    };
    const round = await refreshAt(LATER, [], racing).round(new AbortController().signal);
    expect(round).toMatchObject({ checked: 0, settled: 1 });
    const due = await db.query(
      `select status, uncertainties, contradiction from resources
        where id = $1 and next_check_at is not null`,
      [id],
    );
    expect(due).toMatchObject([resource]);
  },
);

test('a resource that a failed round did not check is due again immediately', async () => {
  service.always = () => ({ status: 503, body: '' });
  const refresh = refreshAt(LATER);
  const { signal } = new AbortController();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'unusable' });
  expect(await openFindings()).toEqual([{ class: 'service_unusable', subject: 'service:refresh' }]);
  recover();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'done', checked: 1 });
  expect(await openFindings()).toEqual([]);
});

test('refresh backs off exponentially, up to five minutes', async () => {
  service.always = () => ({ status: 503, body: '' });
  const waits: number[] = [];
  const closing = new AbortController();
  let hours = 1;
  const clock = {
    nowMs: () => {
      if (waits.length >= 9) closing.abort();
      hours += 1;
      return Date.now() + hours * 60 * 60_000;
    },
  };
  await refreshAt(clock, waits).loop(closing.signal);
  expect(waits.slice(0, 8)).toEqual([
    5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
  ]);
  expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'processing' }]);
});

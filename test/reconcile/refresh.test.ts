/** Checks of single resources: which are retrieved and when, which need no request, and how refresh waits. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { claimDue } from '../../src/ledger/store/checks.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRefresh } from '../../src/reconcile/refresh.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { beginPause, endPause } from '../../src/reconcile/store/pauses.ts';
import { API_KEY } from '../client/paymentService.ts';
import { silentLog } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, readResourceStates, testApplier } from '../support/ledger.ts';
import { type OnePayment, PAID, startOnePayment } from './onePayment.ts';

let db: OnePayment['db'];
let service: OnePayment['service'];
const id = PAID.payment_id;

beforeEach(async () => {
  ({ db, service } = await startOnePayment());
});
afterEach(() => db.drop());

const openFindings = () => db.query(`select class, subject from findings where state = 'open'`);
const openReasons = () => db.query(`select detail from findings where state = 'open'`);

/** Makes the service respond to retrieves with the payment. */
function recover(): void {
  service.always = () => ({ status: 200, body: PAID });
}

function retrieveAt(clock: Clock, retrieving = db) {
  const client = createClient({
    baseUrl: service.baseUrl,
    apiKey: API_KEY,
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 2 },
  });
  const account = { merchantId: undefined, profileId: undefined };
  return createRetrieve({ db: retrieving, client, clock, account });
}

function refreshAt(clock: Clock, waits: number[] = [], refreshed = db, metrics = createMetrics()) {
  return createRefresh({
    db: refreshed,
    retrieve: retrieveAt(clock, refreshed),
    clock,
    metrics: createReconcileMetrics(metrics),
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

test('a payment with which its order cannot be added up is checked later, and the others are checked', async () => {
  const order = { amount: 9e15, amount_received: 9e15, metadata: { order_id: unique('ord') } };
  const excessive = paymentObject({ ...order, modified_at: PAID.modified_at });
  const processing = {
    ...excessive,
    status: 'processing',
    amount_received: 0,
    modified_at: '2026-11-01T10:00:00Z',
  };
  await applyEach(db, testApplier(db), [eventBody(paymentObject(order)), eventBody(processing)]);
  await db.query(`update resources set next_check_at = now() where id = $1`, [
    excessive.payment_id,
  ]);
  service.always = ({ path }) => ({ status: 200, body: path.endsWith(id) ? PAID : excessive });
  const round = await refreshAt(LATER).round(new AbortController().signal);
  expect(round).toMatchObject({ outcome: 'done', checked: 2 });
  expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
  expect(await readResourceStates(db, [excessive.payment_id])).toMatchObject([
    { status: 'processing' },
  ]);
  expect(await refreshAt(LATER).round(new AbortController().signal)).toMatchObject({ checked: 0 });
});

const hoursToCheck = async (): Promise<number> => {
  const [row] = await db.query<{ hours: number }>(
    `select (extract(epoch from next_check_at - now()) / 3600)::float8 as hours
       from resources where id = $1`,
    [id],
  );
  return row?.hours ?? Number.NaN;
};

describe('the daily check of an old payment', () => {
  const OLD = { ...PAID, status: 'requires_customer_action', amount_received: 0 };

  beforeEach(async () => {
    await applyEach(db, testApplier(db), [eventBody(OLD)]);
    await db.query(`update resources set next_check_at = now() + interval '20 hours'`);
  });

  test('comes two minutes after it changed: the event that follows may be lost', async () => {
    const changed = { ...OLD, status: 'processing', modified_at: '2026-11-01T10:06:00Z' };
    await applyEach(db, testApplier(db), [eventBody(changed)]);
    expect(await hoursToCheck()).toBeLessThanOrEqual(2 / 60);
  });

  test('stays where an event changes nothing, or nothing can follow', async () => {
    const earlier = { ...OLD, status: 'processing', modified_at: '2026-11-01T10:04:00Z' };
    await applyEach(db, testApplier(db), [eventBody(OLD), eventBody(earlier)]);
    expect(await hoursToCheck()).toBeGreaterThan(19);
    const paid = { ...PAID, modified_at: '2026-11-01T10:06:00Z' };
    await applyEach(db, testApplier(db), [eventBody(paid)]);
    expect(await hoursToCheck()).toBeGreaterThan(19);
  });
});

test('a change that only a check found counts as missed, also of the stage of a dispute', async () => {
  const metrics = createMetrics();
  const dispute = {
    dispute_id: 'dp_1',
    payment_id: id,
    amount: '100',
    currency: 'USD',
    dispute_status: 'dispute_opened',
    created: PAID.modified_at,
  };
  await applyEach(db, testApplier(db), [
    eventBody(PAID),
    eventBody(
      { ...dispute, dispute_stage: 'dispute', modified_at: PAID.modified_at },
      { contentType: 'dispute_details' },
    ),
  ]);
  service.always = () => ({
    status: 200,
    body: { ...dispute, dispute_stage: 'arbitration', modified_at: A_SECOND_LATER },
  });
  const signal = new AbortController().signal;
  expect(await refreshAt(LATER, [], db, metrics).round(signal)).toMatchObject({ checked: 1 });
  expect(await metrics.render()).toContain('tallyhook_missed_webhooks_total{stream="disputes"} 1');
});

test('a resource that a webhook has settled in the meantime is not retrieved', async () => {
  await applyEach(db, testApplier(db), [eventBody(PAID)]);
  const round = await refreshAt(LATER).round(new AbortController().signal);
  expect(round).toMatchObject({ checked: 0, settled: 1 });
  expect(service.received).toEqual([]);
  const due = await db.query('select id from resources where next_check_at is not null');
  expect(due).toEqual([]);
});

test('a final payment that is missing remotely is retrieved daily, and its finding closes when it is back', async () => {
  await applyEach(db, testApplier(db), [eventBody(PAID)]);
  const roundAfter = (days: number) =>
    refreshAt({ nowMs: () => Date.now() + days * DAY_MS }).round(new AbortController().signal);
  service.always = () => ({
    status: 404,
    body: { error: { type: 'invalid_request', code: 'IR_05', message: 'no such payment' } },
  });
  // The nightly list does not show it.
  const clock = { nowMs: () => Date.now() + DAY_MS };
  await retrieveAt(clock)({ kind: 'payment', id }, { lane: 'discovery' });
  expect(await openFindings()).toEqual([{ class: 'missing_remote', subject: `payment:${id}` }]);
  expect(await roundAfter(3)).toMatchObject({ checked: 1, settled: 0 });
  recover();
  expect(await roundAfter(5)).toMatchObject({ checked: 1, settled: 0 });
  expect(await openFindings()).toEqual([]);
  expect(await roundAfter(7)).toMatchObject({ checked: 0, settled: 0 });
});

/** Events that change nothing and request a retrieve of the payment. */
const REQUESTING = [
  ['an unreadable amount', eventBody({ ...PAID, amount_received: '12.5' })],
  [
    'labels of another kind',
    eventBody(PAID, { eventType: 'refund_succeeded', contentType: 'refund_details' }),
  ],
] as const;

test.each(REQUESTING)(
  'a retrieve that an event with %s requested is made although a later event changes nothing',
  async (_, requesting) => {
    recover();
    const older = { ...PAID, status: 'processing', amount_received: 0 };
    const bodies = [
      eventBody(PAID),
      requesting,
      eventBody({ ...older, modified_at: '2026-11-01T10:00:00Z' }),
    ];
    await applyEach(db, testApplier(db), bodies);
    const { signal } = new AbortController();
    expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 1, settled: 0 });
    expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 0 });
    expect(service.received).toHaveLength(1);
  },
);

test.each(REQUESTING)(
  'a retrieve that an event with %s requested is made although an earlier one is applied after the event',
  async (_, requesting) => {
    recover();
    let isApplied = false;
    const racing: typeof db = {
      ...db,
      transaction: async (work) => {
        // On a slow machine, the budget takes a transaction before the request.
        if (!isApplied && service.received.length > 0) {
          isApplied = true;
          await applyEach(db, testApplier(db), [requesting]);
        }
        return await db.transaction(work);
      },
    };
    const { signal } = new AbortController();
    expect(await refreshAt(LATER, [], racing).round(signal)).toMatchObject({ checked: 1 });
    expect(await refreshAt(systemClock).round(signal)).toMatchObject({ checked: 1 });
    expect(await refreshAt(systemClock).round(signal)).toMatchObject({ checked: 0, settled: 0 });
    expect(service.received).toHaveLength(2);
  },
);

const FAILED = { ...PAID, status: 'failed', amount_received: 0 };
const A_SECOND_LATER = new Date(Date.parse(PAID.modified_at) + 1_000).toISOString();

async function retrieveChanged(changes: object): Promise<void> {
  service.always = () => ({ status: 200, body: { ...FAILED, ...changes } });
  const { outcome } = await retrieveAt(LATER)({ kind: 'payment', id }, { lane: 'refresh' });
  expect(outcome).toBe('applied');
}

/** The payment as the service has it after an event that could not be applied. */
const VOIDED = { ...PAID, status: 'cancelled_post_capture', modified_at: A_SECOND_LATER };

test.each([
  ['an unreadable amount', eventBody({ ...VOIDED, amount_received: '12.5' })],
  [
    'labels of another kind',
    eventBody(VOIDED, { eventType: 'refund_succeeded', contentType: 'refund_details' }),
  ],
])(
  'a retrieve that an event with %s requested is repeated while responses are older than the event',
  async (_, requesting) => {
    await applyEach(db, testApplier(db), [eventBody(PAID), requesting]);
    const { signal } = new AbortController();
    const roundAfter = (minutes: number) =>
      refreshAt({ nowMs: () => Date.now() + minutes * 60_000 }).round(signal);
    recover();
    expect(await roundAfter(3)).toMatchObject({ checked: 1 });
    expect(await roundAfter(3)).toMatchObject({ checked: 0 });
    expect(await roundAfter(60)).toMatchObject({ checked: 1 });
    expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
    service.always = () => ({ status: 200, body: VOIDED });
    expect(await roundAfter(24 * 60)).toMatchObject({ checked: 1 });
    expect(await readResourceStates(db, [id])).toMatchObject([
      { status: 'cancelled_post_capture', is_check_wanted: false },
    ]);
    expect(await roundAfter(365 * 24 * 60)).toMatchObject({ checked: 0 });
  },
);

const HALF_A_DAY_AGO = new Date(Date.now() - DAY_MS / 2).toISOString();

test.each([
  [
    'an excess of its order waits for',
    [
      eventBody({ ...FAILED, modified_at: HALF_A_DAY_AGO }),
      eventBody(
        { refund_id: 'ref_1', payment_id: id, amount: 6540, currency: 'USD', status: 'succeeded' },
        { contentType: 'refund_details', eventType: 'refund_succeeded' },
      ),
    ],
  ],
  [
    'an event waits for that was not applied',
    [
      eventBody({ ...PAID, modified_at: HALF_A_DAY_AGO }),
      eventBody({ ...PAID, modified_at: HALF_A_DAY_AGO, amount_received: '12.5' }),
    ],
  ],
])('a check that %s is repeated by the age of what waits if it fails', async (_, bodies) => {
  await applyEach(db, testApplier(db), bodies);
  await db.query(`update findings set updated_at = updated_at - interval '3 hours'`);
  await db.query(`update resources set behind_since = behind_since - interval '3 hours'`);
  service.always = () => ({ status: 200, body: '<h1>Welcome</h1>' });
  await refreshAt(LATER).round(new AbortController().signal);
  // 2, 5 and 15 minutes, 1 and 6 hours, each from the one before; by its own age it would be checked in 19 hours.
  expect(await hoursToCheck()).toBeCloseTo(7 + 22 / 60 - 3, 0);
});

test('of more checks than one batch has, those that have been due for longest come first', async () => {
  const ids = ['pay_due_2', 'pay_due_3', 'pay_due_1'];
  const bodies = ids.map((payment_id) =>
    eventBody({ ...PAID, payment_id, status: 'processing', amount_received: 0 }),
  );
  await applyEach(db, testApplier(db), bodies);
  await db.query(
    `update resources set next_check_at = now() - interval '1 hour' / right(id, 1)::int
      where id like 'pay_due_%'`,
  );
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + DAY_MS);
  const claimed = await claimDue(db, { isWanted: false, now, leaseUntil, limit: 2 });
  expect(claimed.map((row) => row.id).sort()).toEqual(['pay_due_1', 'pay_due_2']);
});

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
    how: 'is to be retrieved for an event that is not applied',
    unsettle: (applier: EventApplier) =>
      applyEach(db, applier, [eventBody({ ...FAILED, amount_received: '12.5' })]),
    resource: { status: 'failed', uncertainties: [], contradiction: null },
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
    const racing = whenClaimed(() => unsettle(applier));
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

// The response may come from a replica that has what the earlier event reported, and not yet the later one.
test('of two events that are not applied, the check is wanted until a response is as new as both', async () => {
  const applier = testApplier(db);
  await applyEach(db, applier, [eventBody(FAILED)]);
  const after = (seconds: number) => ({
    modified_at: new Date(Date.parse(PAID.modified_at) + seconds * 1_000).toISOString(),
  });
  const unreadable = (seconds: number) =>
    eventBody({ ...FAILED, ...after(seconds), amount_received: '12.5' });
  await applyEach(db, applier, [unreadable(60), unreadable(30)]);
  const wanted = () => db.query('select id from resources where is_check_wanted');
  await retrieveChanged(after(30));
  expect(await wanted()).toEqual([{ id }]);
  await retrieveChanged(after(60));
  expect(await wanted()).toEqual([]);
});

test('a resource that a failed round did not check is due again immediately', async () => {
  service.always = () => ({ status: 503, body: '' });
  const refresh = refreshAt(LATER);
  const { signal } = new AbortController();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'unusable' });
  expect(await openFindings()).toEqual([{ class: 'service_unusable', subject: 'service:refresh' }]);
  expect(await openReasons()).toEqual([
    { detail: { reason: expect.stringMatching(/^retrievePayment: .*503/) } },
  ]);
  recover();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'done', checked: 1 });
  expect(await openFindings()).toEqual([]);
});

/** Disputes with events without a currency. @param forbidden those that the key may not read */
async function forbidDisputes(
  disputes: readonly string[],
  forbidden: readonly string[],
): Promise<void> {
  const dispute = (dispute_id: string) => ({
    dispute_id,
    payment_id: id,
    amount: 100,
    dispute_status: 'dispute_opened',
  });
  const labels = { contentType: 'dispute_details', eventType: 'dispute_opened' };
  const bodies = disputes.map((disputeId) => eventBody(dispute(disputeId), labels));
  await applyEach(db, testApplier(db), bodies);
  const error = { type: 'authentication_error', code: 'IR_22', message: 'not permitted' };
  service.always = ({ path }) => {
    const [, kind, disputeId = ''] = path.split('/');
    if (forbidden.includes(disputeId)) return { status: 403, body: { error } };
    const shown = { ...dispute(disputeId), currency: 'USD' };
    return { status: 200, body: kind === 'disputes' ? shown : PAID };
  };
}

const AFTER_REFUSALS = { nowMs: () => LATER.nowMs() + 11 * 60_000 };

test('a key that may not read disputes delays no check of a payment', async () => {
  const disputes = ['dp_1', 'dp_2', 'dp_3'];
  await forbidDisputes(disputes, disputes);
  const refresh = refreshAt(LATER);
  const { signal } = new AbortController();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'done', checked: 1 });
  expect(await readResourceStates(db, [id])).toMatchObject([{ status: 'succeeded' }]);
  const requested = service.received.map(({ path }) => path.split('/')[1]);
  expect(requested.sort(), 'two requests show it for all disputes').toEqual([
    'disputes',
    'disputes',
    'payments',
  ]);
  expect(await refresh.round(signal), 'disputes wait').toMatchObject({ checked: 0 });
  expect(service.received).toHaveLength(3);
  await refreshAt({ nowMs: () => LATER.nowMs() + 6 * 60_000 }).round(signal);
  const checked = service.received.map(({ path }) => path).filter((path) => path.includes('/dp_'));
  expect(checked.sort(), 'the one that was not tried waits half as long as the others').toEqual(
    disputes.map((disputeId) => `/disputes/${disputeId}`),
  );
});

test('a dispute is checked although the key may not read two others', async () => {
  await forbidDisputes(['dp_1', 'dp_2', 'dp_3'], ['dp_1', 'dp_3']);
  const { signal } = new AbortController();
  await refreshAt(LATER).round(signal);
  // Which are tried first is not known: after two refusals the third waits, but not as long as they do.
  await refreshAt({ nowMs: () => LATER.nowMs() + 6 * 60_000 }).round(signal);
  const requested = service.received.map(({ path }) => path);
  expect(requested).toContain('/disputes/dp_2');
});

describe('the finding that the key may not read disputes', () => {
  const REFUSED = [{ class: 'service_unusable', subject: 'service:refresh:disputes' }];

  test('stays open while payments are checked, also by another process', async () => {
    await forbidDisputes(['dp_1'], ['dp_1']);
    const { signal } = new AbortController();
    expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 1 });
    expect(await openFindings()).toEqual(REFUSED);
    expect(await openReasons()).toEqual([
      { detail: { reason: expect.stringMatching(/^retrieveDispute: .*403.*not permitted/) } },
    ]);
    const unsettled = { ...FAILED, status: 'processing', modified_at: A_SECOND_LATER };
    await applyEach(db, testApplier(db), [eventBody({ ...unsettled, payment_id: 'pay_other' })]);
    expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 1 });
    expect(await openFindings()).toEqual(REFUSED);
  });

  test('closes when a dispute is checked', async () => {
    await forbidDisputes(['dp_1'], ['dp_1']);
    const { signal } = new AbortController();
    await refreshAt(LATER).round(signal);
    await forbidDisputes([], []);
    expect(await refreshAt(AFTER_REFUSALS).round(signal)).toMatchObject({ checked: 1 });
    expect(await openFindings()).toEqual([]);
  });

  test('closes when no check of a dispute is left', async () => {
    await forbidDisputes(['dp_1'], ['dp_1']);
    const { signal } = new AbortController();
    const refresh = refreshAt(LATER);
    await refresh.round(signal);
    await db.query(`update resources set next_check_at = null where kind = 'dispute'`);
    await refresh.round(signal);
    expect(await openFindings()).toEqual([]);
  });

  test('does not open if another dispute is checked in the same round', async () => {
    await forbidDisputes(['dp_1', 'dp_2'], ['dp_1']);
    const round = await refreshAt(LATER).round(new AbortController().signal);
    expect(round).toMatchObject({ checked: 2 });
    expect(await openFindings()).toEqual([]);
  });
});

const unusable = () =>
  db.query(
    `select opened_at, closed_at from findings where class = 'service_unusable' order by opened_at`,
  );

/** A failed check, with the finding that it opened. */
async function failRound() {
  service.always = () => ({ status: 503, body: '' });
  const refresh = refreshAt(LATER);
  const { signal } = new AbortController();
  expect(await refresh.round(signal)).toMatchObject({ outcome: 'unusable' });
  const opened = await unusable();
  expect(opened).toMatchObject([{ closed_at: null }]);
  return { refresh, signal, opened };
}

/** The database of a process for which something happens between its claim and its first request. */
function whenClaimed(happens: () => Promise<void>): typeof db {
  return {
    ...db,
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const rows = await db.query<Row>(text, values);
      if (text.includes('for update skip locked') && rows.length > 0) await happens();
      return rows;
    },
  };
}

describe('the finding that the service cannot be used', () => {
  test('stays open through a pause, also for a process that starts meanwhile', async () => {
    const { refresh, signal, opened } = await failRound();
    await beginPause(db, { by: 'ops', reason: 'maintenance of the service' });
    for (const paused of [refresh, refreshAt(LATER)]) {
      expect(await paused.round(signal)).toMatchObject({ checked: 0 });
      expect(await unusable()).toEqual(opened);
    }
    await endPause(db, 'ops');
    recover();
    expect(await refresh.round(signal)).toMatchObject({ checked: 1 });
    expect(await openFindings()).toEqual([]);
  });

  test('stays open while another process has claimed what is due', async () => {
    const { signal, opened } = await failRound();
    const claiming = whenClaimed(async () => {
      expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 0 });
      expect(await unusable()).toEqual(opened);
    });
    const failing = await refreshAt(LATER, [], claiming).round(signal);
    expect(failing).toMatchObject({ outcome: 'unusable' });
    expect(await unusable()).toEqual(opened);
  });

  test('stays open after the process was killed, until its claim ends and the check succeeds', async () => {
    const { signal, opened } = await failRound();
    const killing = whenClaimed(() => Promise.reject(new Error('killed')));
    await expect(refreshAt(LATER, [], killing).round(signal)).rejects.toThrow('killed');
    recover();
    expect(await refreshAt(LATER).round(signal)).toMatchObject({ checked: 0 });
    expect(await unusable()).toEqual(opened);
    const afterLease = { nowMs: () => LATER.nowMs() + 16 * 60_000 };
    expect(await refreshAt(afterLease).round(signal)).toMatchObject({ checked: 1 });
    expect(await openFindings()).toEqual([]);
  });

  test('closes without a request once webhooks have settled what was left, also during a pause', async () => {
    const { refresh, signal, opened } = await failRound();
    await beginPause(db, { by: 'ops', reason: 'maintenance of the service' });
    await applyEach(db, testApplier(db), [eventBody(PAID)]);
    await refresh.round(signal);
    expect(await unusable()).toEqual(opened);
    await endPause(db, 'ops');
    expect(await refresh.round(signal)).toMatchObject({ checked: 0, settled: 1 });
    expect(await openFindings()).toEqual([]);
  });
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

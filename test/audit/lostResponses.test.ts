/** Requests that move money and lose their response: what counts as done, and what may be sent next. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { actOnPayoutAs } from '../../src/actions/actOnPayout.ts';
import { captureOrCancelAs, inspectHold } from '../../src/actions/captureOrCancel.ts';
import { refundPaymentAs } from '../../src/actions/refundPayment.ts';
import { retryPayoutAs } from '../../src/actions/retryPayout.ts';
import { createAuthorizationService } from '../../src/authorizations/createAuthorizationService.ts';
import { createClient } from '../../src/client/index.ts';
import type { Payout } from '../../src/contract/resources/payout.ts';
import { createPayoutService } from '../../src/payouts/payoutService.ts';
import type { RetrieveParts } from '../../src/reconcile/retrieve.ts';
import { createRefundService, type RefundRequest } from '../../src/refunds/refundService.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import type { Body } from '../support/serviceApi.ts';

const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;
const LOST = { outcome: 'unknown', reason: 'no complete response' } as const;

let db: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let parts: RetrieveParts;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  setup = await setUpAuthorizations(sandbox, db);
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
  const account = { merchantId: sandbox.merchantId, profileId: undefined };
  parts = { db, client, clock: setup.clock, account };
});
afterAll(async () => {
  await sandbox.close();
  await db.drop();
});

const call = async (path: string, body: object = {}): Promise<Body> =>
  (await sandbox.call('POST', path, body)).body;

const resultsOf = (id: string) =>
  db.query<{ result: string }>('select result from audit where subject_id = $1 order by id', [id]);

describe('a capture or cancellation that lost its response', () => {
  /** Acts on the hold of a payment; its own request is lost, and somebody else sends another one meanwhile. */
  const act = async (
    request: { readonly action: 'capture' | 'cancel'; readonly amountMinor?: number },
    meanwhile: { readonly path: string; readonly body?: object },
  ) => {
    const id = await setup.authorize({ capture_method: 'manual_multiple' });
    const service = {
      ...createAuthorizationService(parts, { lane: 'operator' }),
      act: async () => {
        await call(`/payments/${id}/${meanwhile.path}`, meanwhile.body);
        return LOST;
      },
    };
    const acting = { db, service, check: setup.check };
    const seen = await inspectHold(acting, id);
    if (seen.outcome !== 'held') throw new Error(`${id} holds nothing`);
    const input = { ...request, paymentId: id, hold: seen.hold };
    const { outcome } = await captureOrCancelAs(acting, ADA, input);
    return { outcome, results: (await resultsOf(id)).map(({ result }) => result) };
  };

  test.each([
    ['captured, and the hold was released', { action: 'capture' }, { path: 'cancel' }],
    ['released, and the hold was captured', { action: 'cancel' }, { path: 'capture' }],
    [
      'captured in part, and less was captured',
      { action: 'capture', amountMinor: 1000 },
      { path: 'capture', body: { amount_to_capture: 500 } },
    ],
  ] as const)('is unknown where it should have %s', async (_what, request, meanwhile) => {
    const acted = await act(request, meanwhile);
    expect(acted).toEqual({ outcome: 'unknown', results: ['requested', 'unknown'] });
  });

  test.each([
    ['a capture', { action: 'capture' }, { path: 'capture' }],
    ['a release', { action: 'cancel' }, { path: 'cancel' }],
    [
      'the capture of a part',
      { action: 'capture', amountMinor: 1000 },
      { path: 'capture', body: { amount_to_capture: 1000 } },
    ],
  ] as const)('is done where the service shows %s', async (_what, request, meanwhile) => {
    const acted = await act(request, meanwhile);
    expect(acted).toEqual({ outcome: 'done', results: ['requested', 'done'] });
  });
});

describe('a capture that may still arrive', () => {
  const WHOLE = 6540;
  /** Captures two amounts, the first of which is under way until the second has been decided. */
  const captureTwice = async (method: string, [first, second]: readonly [number, number]) => {
    const paymentId = await setup.authorize({ capture_method: method });
    const service = createAuthorizationService(parts, { lane: 'operator' });
    const slow = { ...service, act: () => Promise.resolve(LOST) };
    const seen = await inspectHold({ db, service, check: setup.check }, paymentId);
    if (seen.outcome !== 'held') throw new Error(`${paymentId} holds nothing`);
    const hold = seen.hold;
    const capture = (amountMinor: number, by = service) => {
      const input = { action: 'capture', paymentId, hold, amountMinor } as const;
      return captureOrCancelAs({ db, service: by, check: setup.check }, ADA, input);
    };
    expect(await capture(first, slow)).toMatchObject({ outcome: 'unknown' });
    const { outcome } = await capture(second);
    await service.act({ action: 'capture', paymentId, amountMinor: first });
    const { body } = await sandbox.call('GET', `/payments/${paymentId}`);
    return { outcome, receivedMinor: body.amount_received, paymentId, capture };
  };

  test.each([
    ['the same part', [1000, 1000]],
    ['another part', [1000, 2000]],
    ['a part instead of the whole', [WHOLE, 1000]],
  ] as const)('is not joined by one of %s', async (_what, amounts) => {
    const { outcome, receivedMinor } = await captureTwice('manual_multiple', amounts);
    expect({ outcome, receivedMinor }).toEqual({ outcome: 'uncertain', receivedMinor: amounts[0] });
  });

  test.each([
    ['of the whole hold, twice', 'manual_multiple', [WHOLE, WHOLE]],
    ['of the whole hold after a part', 'manual_multiple', [1000, WHOLE]],
    ['of a payment that is captured once', 'manual', [1000, 1000]],
  ] as const)(
    'is sent again where it cannot take more than was decided: %s',
    async (_what, method, amounts) => {
      const { outcome, receivedMinor } = await captureTwice(method, amounts);
      expect({ outcome, receivedMinor }).toEqual({ outcome: 'done', receivedMinor: amounts[1] });
    },
  );

  test('holds nothing up once the service shows it', async () => {
    const { paymentId, capture } = await captureTwice('manual_multiple', [1000, 2000]);
    expect(await capture(2000)).toMatchObject({ outcome: 'changed' });
    const service = createAuthorizationService(parts, { lane: 'operator' });
    const acting = { db, service, check: setup.check };
    const seen = await inspectHold(acting, paymentId);
    if (seen.outcome !== 'held') throw new Error(`${paymentId} holds nothing`);
    const input = { paymentId, hold: seen.hold };
    const part = { ...input, action: 'capture', amountMinor: 2000 } as const;
    expect(await captureOrCancelAs(acting, ADA, part)).toMatchObject({ outcome: 'done' });
  });
});

/** A payout that waits to be sent. */
async function createPayout(fields: object = {}): Promise<string> {
  const request = { amount: 2500, currency: 'EUR', confirm: true, customer: { id: 'cus_1' } };
  const method = { payout_type: 'bank', payout_method_id: 'pm_stored' };
  return (await call('/payouts/create', { ...request, ...method, ...fields })).payout_id;
}

describe('a payout with a lost response', () => {
  const act = async (action: 'cancel' | 'fulfill', meanwhile: 'cancel' | 'fulfill') => {
    const payoutId = await createPayout();
    const service = {
      ...createPayoutService(parts),
      act: async () => {
        await call(`/payouts/${payoutId}/${meanwhile}`);
        return LOST;
      },
    };
    const seen = { amountMinor: 2500, currency: 'EUR', status: 'requires_fulfillment' };
    const input = { ...seen, payoutId, action, reason: 'due' };
    return (await actOnPayoutAs({ db, service }, ADA, input)).outcome;
  };

  test('is not fulfilled if it was cancelled meanwhile, and not cancelled if it was fulfilled', async () => {
    expect(await act('fulfill', 'cancel')).toBe('unknown');
    expect(await act('cancel', 'fulfill')).toBe('unknown');
  });

  test('is fulfilled or cancelled if the service shows that', async () => {
    expect(await act('fulfill', 'fulfill')).toBe('done');
    expect(await act('cancel', 'cancel')).toBe('done');
  });
});

describe('a list of the service that leaves out the references of payouts', () => {
  /** Pays a payout again that was paid again before, with rows and payouts that have few fields. */
  const retry = async (few: { readonly isRetrievedShort: boolean }) => {
    const payoutId = await createPayout();
    await sandbox.control('POST', `/payouts/${payoutId}/move`, { status: 'failed' });
    const again = { merchant_order_reference_id: `again_${payoutId}` };
    const paidId = await createPayout(again);
    const { payouts } = parts.client;
    const short: typeof payouts = {
      ...payouts,
      iterate: async function* (filter, options) {
        for await (const row of payouts.iterate(filter, options)) yield withoutReference(row);
      },
      retrieve: async (...args) => {
        const payout = await payouts.retrieve(...args);
        return few.isRetrievedShort ? withoutReference(payout) : payout;
      },
    };
    const service = createPayoutService({ ...parts, client: { ...parts.client, payouts: short } });
    const seen = { amountMinor: 2500, currency: 'EUR', reason: 'fixed', details: undefined };
    const acting = { db, service, clock: setup.clock };
    const retried = await retryPayoutAs(acting, ADA, { ...seen, payoutId });
    expect((await call('/payouts/list', again)).data).toHaveLength(1);
    return { retried, paidId };
  };
  const withoutReference = ({ merchant_order_reference_id: _, ...rest }: Payout): Payout => rest;

  test('does not have a payout paid twice: it is retrieved', async () => {
    const { retried, paidId } = await retry({ isRetrievedShort: false });
    expect(retried).toMatchObject({ outcome: 'existing', payoutId: paidId });
  });

  test('lets nothing be sent if a retrieve does not show them either', async () => {
    const { retried } = await retry({ isRetrievedShort: true });
    expect(retried).toMatchObject({ outcome: 'failed' });
  });
});

describe('a refund that may still arrive', () => {
  test('is not joined by a refund of another amount; the same one finds out', async () => {
    const paymentId = await setup.authorize({ capture_method: 'automatic' });
    const service = createRefundService(parts);
    let underWay: RefundRequest | undefined;
    const slow = {
      ...service,
      refund: (request: RefundRequest) => {
        underWay = request;
        return Promise.resolve(LOST);
      },
    };
    const wanted = { paymentId, expectedMinor: 6540, currency: 'USD', reason: 'returned' };
    const refund = (amountMinor: number, by = service) =>
      refundPaymentAs({ db, service: by }, ADA, { ...wanted, amountMinor });
    expect(await refund(1000, slow)).toMatchObject({ outcome: 'unknown' });
    expect(await refund(2000)).toMatchObject({ outcome: 'uncertain' });

    if (underWay) await service.refund(underWay);
    expect(await refund(1000)).toMatchObject({ outcome: 'changed' });
    const { data } = await call('/refunds/list', { payment_id: paymentId });
    expect(data.map(({ amount }: Body) => amount)).toEqual([1000]);

    const next = { ...wanted, expectedMinor: 5540, amountMinor: 2000 };
    expect(await refundPaymentAs({ db, service }, ADA, next)).toMatchObject({ outcome: 'done' });
  });
});

describe('a refund that failed', () => {
  /** An amount that the sandbox refuses to refund. */
  const FAILS = 7710;
  let proxy: RecordingProxy;
  beforeEach(async () => {
    proxy = await startRecordingProxy(sandbox.baseUrl);
  });
  afterEach(() => proxy.close());

  const refund = async () => {
    const paymentId = await setup.authorize({ capture_method: 'automatic', amount: 10_000 });
    const client = createClient({ baseUrl: proxy.baseUrl, apiKey: sandbox.apiKey });
    const service = createRefundService({ ...parts, client });
    const wanted = { paymentId, expectedMinor: 10_000, currency: 'USD', reason: 'returned' };
    const input = { ...wanted, amountMinor: FAILS };
    const attempt = (by = service) => refundPaymentAs({ db, service: by }, ADA, input);
    return { service, attempt, results: () => resultsOf(paymentId) };
  };

  test.each(['failed', 'failure', 'transaction_failure'])(
    'is refused, however the service spells it: %s',
    async (word) => {
      proxy.rewrite = (body) => body.replaceAll('"status":"failed"', `"status":"${word}"`);
      const { attempt, results } = await refund();
      expect(await attempt()).toMatchObject({
        outcome: 'refused',
        reason: "The customer's bank rejected the refund",
      });
      expect(await results()).toEqual([{ result: 'requested' }, { result: 'refused' }]);
      // The next one has an id of its own, and is sent.
      expect(await attempt()).toMatchObject({ outcome: 'refused' });
    },
  );

  test('is refused, if its response was lost', async () => {
    const { service, attempt, results } = await refund();
    const losing = {
      ...service,
      refund: async (request: RefundRequest) => {
        await service.refund(request);
        return LOST;
      },
    };
    expect(await attempt(losing)).toMatchObject({ outcome: 'refused' });
    expect(await results()).toEqual([{ result: 'requested' }, { result: 'refused' }]);
  });

  test('is refused, if it is found later and the list of refunds leaves it out', async () => {
    const { service, attempt, results } = await refund();
    let underWay: RefundRequest | undefined;
    const losing = {
      ...service,
      refund: (request: RefundRequest) => {
        underWay = request;
        return Promise.resolve(LOST);
      },
    };
    expect(await attempt(losing)).toMatchObject({ outcome: 'unknown' });
    await call('/refunds', {
      payment_id: underWay?.paymentId,
      refund_id: underWay?.refundId,
      amount: FAILS,
    });
    proxy.standIns.set('/refunds/list', { status: 200, body: [] });
    expect(await attempt()).toMatchObject({ outcome: 'refused', reason: 'the refund failed' });
    expect((await results()).at(-1)).toEqual({ result: 'refused' });
  });
});

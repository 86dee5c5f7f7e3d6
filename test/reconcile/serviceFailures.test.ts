/** While the service is unusable there is one finding, requests back off, and resources do not change. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readResourceStates } from '../support/ledger.ts';
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

const openReasons = () =>
  db.query(`select detail ->> 'reason' as reason from findings where state = 'open'`);

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

    // The run fails before it is recorded, and is logged and counted like any other.
    await expect(reconciler.run(span)).rejects.toThrow();
    expect(reconciler.logged).toMatchObject([
      {
        stream: 'payments',
        reason: expect.stringMatching(/listPayments/),
        msg: 'reconcile.run_failed',
      },
    ]);
    expect(await reconciler.metrics.render()).toContain(
      'tallyhook_reconcile_runs_total{outcome="failed"} 1',
    );

    expect(await readResourceStates(db, [id])).toEqual(before);
    expect(await openFindings()).toEqual([
      { class: 'service_unusable', subject: 'service:payments' },
    ]);
    expect(await openReasons()).toEqual([
      { reason: expect.stringMatching(new RegExp(`^listPayments: .*${status}`)) },
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
  expect(await openReasons()).toEqual([
    { reason: expect.stringMatching(/^retrievePayment: .*503/) },
  ]);
  expect(await reconciler.run()).toMatchObject({ state: 'failed' });
  expect(await reconciler.run({ cause: 'night' })).toMatchObject({ state: 'failed' });
  expect(await reconciler.run({ stream: 'refunds' })).toMatchObject({ state: 'done' });
  expect(await findings()).toEqual(first);
  expect(await openFindings()).toHaveLength(1);
});

test('a resumed run that first counts missed webhooks closes the finding only when it has read the list', async () => {
  const cause = 'tail';
  recover();
  expect(await reconciler.run({ cause, fromMs: Date.UTC(2026, 9, 1) })).toMatchObject({
    repaired: 1,
  });
  const findings = () =>
    db.query<{ closed: boolean; opened_at: Date }>(
      `select opened_at, closed_at is not null as closed
         from findings where class = 'service_unusable' order by id`,
    );
  // A run begins with a page of one row; its windows have more.
  const respond = service.always;
  service.always = (request) => {
    const { limit } = (request.body ?? {}) as { readonly limit?: number };
    return limit === 1 && respond ? respond(request) : { status: 503, body: '' };
  };
  const failed = await reconciler.run({ cause });
  expect(failed).toMatchObject({ state: 'failed' });
  const opened = await findings();
  expect(opened).toMatchObject([{ closed: false }]);

  await db.query(
    `insert into awaited_webhooks (kind, resource_id, stream, changed_at, repaired_at)
     values ('payment', 'pay_awaited', 'payments', now() - interval '2 hours', now() - interval '1 hour')`,
  );
  const resumed = await reconciler.run({ cause });
  expect(resumed).toMatchObject({ id: failed.id, state: 'failed', missed: 1 });
  expect(await findings()).toEqual(opened);

  recover();
  expect(await reconciler.run({ cause })).toMatchObject({ id: failed.id, state: 'done' });
  expect(await findings()).toMatchObject([{ closed: true }]);
});

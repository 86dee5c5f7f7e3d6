/** The page of the sandbox: scenarios, test payments, faults and the clock, with a real sandbox over HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_NAMES, sharesOf } from '../../src/demo/namedFaults.ts';
import { MOVE_NAMES, MOVES, OUTCOME_NAMES } from '../../src/demo/play.ts';
import { SCENARIO_NAMES, SCENARIOS } from '../../src/demo/scenarios.ts';
import { createTestDatabase } from '../support/database.ts';
import { openPages, type PageViewer, type ShownPage } from '../support/pages.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let all: SandboxConsole;
let viewer: PageViewer;

beforeAll(async () => {
  all = await startSandboxConsole();
  viewer = await openPages(all.tallyhook);
});
afterEach(() => all.sandbox.control('DELETE', '/faults'));
afterAll(() => all.close());

const EQUAL = 'The ledger equals the service, to the cent.';

/** Plays a scenario. @returns the page that it leads to */
async function play(name: string): Promise<string> {
  const { status, location, html } = await viewer.post(`/sandbox/scenarios/${name}`, {});
  expect({ status, html: status === 303 ? '' : html }).toEqual({ status: 303, html: '' });
  return location ?? '';
}

const orderIn = (path: string): string =>
  new URL(path, 'http://console').searchParams.get('order') ?? '';

const htmlOf = async (path: string): Promise<string> => (await viewer.get(path)).html;

const recent = async (orderId: string) =>
  (await all.sandbox.control('GET', `/recent?order_id=${orderId}`)).data;

test('a lost webhook leaves the ledger behind, and a reconcile run from the page repairs it', async () => {
  const path = await play('webhook_lost');
  const before = await htmlOf(path);
  expect(before).toContain('>not known</span>');
  expect(before).toContain('>lost</span>');
  expect(before).toContain('The ledger differs from the service in 1 of 1.');
  // Only this payment's webhook was lost.
  expect(await all.sandbox.control('GET', '/faults')).toMatchObject({ webhooks: { drop: 0 } });
  const reconciled = await viewer.post('/sandbox/reconcile', {
    back: 'webhook_lost',
    order: orderIn(path),
  });
  expect(reconciled.status).toBe(303);
  await waitFor('the repaired ledger', async () => (await htmlOf(path)).includes(EQUAL));
  const after = await htmlOf(path);
  expect(after).toContain(`href="/orders/${orderIn(path)}"`);
  expect(after).not.toContain('Reconcile now');
});

const HEALED_BY_WEBHOOKS = SCENARIO_NAMES.filter((name) => !SCENARIOS[name].needsReconciliation);

test.each(HEALED_BY_WEBHOOKS)(
  'the ledger follows a scenario by webhooks alone: %s',
  async (name) => {
    const path = await play(name);
    expect(orderIn(path)).toMatch(/^play-\w+$/);
    await waitFor('equal sides', async () => (await htmlOf(path)).includes(EQUAL));
    const html = await htmlOf(path);
    for (const line of SCENARIOS[name].watch) expect(html).toContain(line.replaceAll("'", '&#39;'));
  },
);

test.each([
  ['refund_fails_late', 'refund_failed'],
  ['authorization_lapses', 'authorization_expired'],
  ['dispute_lost', 'dispute'],
  ['payout_fails', 'payout'],
])('the alert of a scenario is raised: %s', async (name, rule) => {
  const path = await play(name);
  const found = await recent(orderIn(path));
  const ids: readonly string[] = found.map(({ id }: { readonly id: string }) => id);
  const subjects = [...ids, orderIn(path)].map((id) => `%${id}%`);
  await waitFor(`an alert ${rule}`, async () => {
    const rows = await all.db.query<{ rule: string }>(
      'select rule from alerts where subject like any ($1::text[])',
      [subjects],
    );
    return rows.some((row) => row.rule.includes(rule));
  });
});

test('an order that was paid twice has a finding', async () => {
  const path = await play('paid_twice');
  await waitFor('the finding', async () => {
    const rows = await all.db.query(
      `select 1 from findings where class = 'double_paid' and state = 'open' and subject = $1`,
      [`order:order:${orderIn(path)}`],
    );
    return rows.length > 0;
  });
});

test.each(OUTCOME_NAMES)('a test payment is placed: %s', async (outcome) => {
  const orderId = `ord-${outcome}`;
  const placed = await viewer.post('/sandbox/payments', {
    order_id: orderId,
    outcome,
    capture: 'automatic',
    amount: '12.34',
    currency: 'EUR',
  });
  expect(placed).toMatchObject({ status: 303 });
  const [payment] = await recent(orderId);
  expect(payment.resource).toMatchObject({ amount: 1234, currency: 'EUR' });
  if (outcome.startsWith('UE_')) expect(payment.resource.unified_code).toBe(outcome);
  expect(await htmlOf('/sandbox')).toContain(payment.id);
});

describe('what happens to a resource next', () => {
  /** Places what a chain of moves begins with, then makes each move that the page offers for it. */
  async function walk(begin: () => Promise<ShownPage>, moves: readonly string[], orderId: string) {
    expect((await begin()).status).toBe(303);
    for (const move of moves) {
      const name = MOVE_NAMES.find((one) => one === move);
      if (!name) throw new Error(`no move is called ${move}`);
      const found = (await recent(orderId)).find(
        ({ kind }: { readonly kind: string }) => kind === MOVES[name].kind,
      );
      const html = await htmlOf('/sandbox');
      expect(html).toContain(`<option value="${move}"`);
      const moved = await viewer.post(`/sandbox/resources/${found.kind}/${found.id}`, {
        move,
        status: found.resource.status,
        amount_minor: String(found.resource.amount),
      });
      expect(moved.status, moved.html).toBe(303);
    }
    await waitFor('equal sides', async () =>
      (await htmlOf(`/sandbox/scenarios/paid_twice?order=${orderId}`)).includes(EQUAL),
    );
  }

  const pay = (order_id: string, outcome: string, capture: string) =>
    viewer.post('/sandbox/payments', { order_id, outcome, capture, amount: '54', currency: 'USD' });

  test.each([
    ['customer_action', 'automatic', ['complete', 'refund_half', 'dispute']],
    ['customer_action', 'automatic', ['abandon']],
    ['customer_action', 'automatic', ['fail']],
    ['review', 'automatic', ['approve', 'dispute', 'win']],
    ['review', 'automatic', ['reject']],
    ['succeeds', 'manual_multiple', ['capture_half', 'capture', 'refund', 'refund_fails']],
    ['succeeds', 'manual', ['cancel']],
    ['succeeds', 'manual', ['lapse']],
    ['succeeds', 'automatic', ['dispute', 'lose']],
  ])('%s, captured %s: %j', async (outcome, capture, moves) => {
    const orderId = `walk-${moves.join('-').slice(0, 30)}`;
    await walk(() => pay(orderId, outcome, capture), moves, orderId);
  });

  test('a payout fails, or comes back', async () => {
    const send = (order_id: string) =>
      viewer.post('/sandbox/payouts', { order_id, amount: '99', currency: 'EUR' });
    await walk(() => send('payout-fails'), ['payout_fails'], 'payout-fails');
    await walk(() => send('payout-back'), ['payout_reversed'], 'payout-back');
  });

  test('what the sandbox refuses is reported, and is in the audit log', async () => {
    const { status, html } = await viewer.post('/sandbox/resources/refund/ref_unknown', {
      move: 'refund_fails',
      status: 'succeeded',
      amount_minor: '1',
    });
    expect(status).toBe(409);
    expect(html).toContain('The sandbox refused:');
    const [entry] = await all.db.query<{ result: string }>(
      `select result from audit where action = 'sandbox.use' and subject_id = 'refund:ref_unknown'
        order by id desc limit 1`,
    );
    expect(entry?.result).toBe('refused');
  });
});

test('each fault is set by its name, beside others of the sandbox, and all end at once', async () => {
  await all.sandbox.control('PUT', '/faults', { seed: 9, lists: { short_rows: true } });
  const form = Object.fromEntries(FAULT_NAMES.map((name) => [name, '0.5']));
  const set = await viewer.post('/sandbox/faults', form);
  // With every second response lost, only the control routes are certain to respond.
  expect(set.status).toBe(303);
  const faults = await all.sandbox.control('GET', '/faults');
  expect(faults).toMatchObject({ seed: 9, lists: { short_rows: true } });
  expect(new Set(Object.values(sharesOf(faults)))).toEqual(new Set([0.5]));
  expect(await htmlOf('/sandbox')).toContain('Faults are on: webhooks are lost, ');
  await viewer.post('/sandbox/faults', { lost: '1' });
  expect(sharesOf(await all.sandbox.control('GET', '/faults'))).toMatchObject({
    lost: 1,
    doubled: 0.5,
  });
  await viewer.post('/sandbox/faults/end', {});
  expect(await htmlOf('/sandbox')).not.toContain('Faults are on');
});

test('an amount that its currency does not have is refused before anything is placed', async () => {
  const form = { outcome: 'succeeds', capture: 'automatic', order_id: 'ord-yen' };
  for (const amount of ['12.5', '0', '-1', 'many', '9999999999']) {
    const refused = await viewer.post('/sandbox/payments', { ...form, amount, currency: 'JPY' });
    expect(refused.status, amount).toBe(400);
  }
  expect(await recent('ord-yen')).toEqual([]);
});

test('a role that may only read sees both sides and no form', async () => {
  const tokens = await createTokensOfEveryKind(all.db);
  const reader = await openPages(all.tallyhook, tokens.get('viewer'));
  const { status, html } = await reader.get('/sandbox');
  expect(status).toBe(200);
  expect(html).not.toContain('action="/sandbox');
  expect((await reader.post('/sandbox/clock', { by: '60000' })).status).toBe(403);
});

test('the clock of the service moves, and what falls due happens', async () => {
  const before = await all.sandbox.control('GET', '/clock');
  expect((await viewer.post('/sandbox/clock', { by: '60000' })).status).toBe(303);
  const after = await all.sandbox.control('GET', '/clock');
  // The clock is that of the machine plus the advance, each read at its own time.
  expect(after.advanced_ms - before.advanced_ms).toBeGreaterThan(59_000);
});

test('without a sandbox there is no page, no link to it and no action', async () => {
  const db = await createTestDatabase();
  const tallyhook = await startTallyhook({
    db,
    roles: ['console'],
    env: { PAYMENTS_BASE_URL: all.sandbox.baseUrl, PAYMENTS_API_KEY: 'snd_of_another_account' },
  });
  try {
    const other = await openPages(tallyhook);
    expect((await other.get('/sandbox')).status).toBe(404);
    expect((await other.get('/sandbox/scenarios/webhook_lost')).status).toBe(404);
    expect((await other.get('/')).html).not.toContain('href="/sandbox"');
    expect((await other.post('/sandbox/clock', { by: '60000' })).status).toBe(404);
  } finally {
    await tallyhook.close();
    await db.drop();
  }
  expect(await htmlOf('/')).toContain('href="/sandbox"');
});

test('when the sandbox stops, the page states how to start it', async () => {
  const db = await createTestDatabase();
  const tallyhook = await startTallyhook({
    db,
    roles: ['console'],
    env: {
      PAYMENTS_MERCHANT_ID: all.sandbox.merchantId,
      PAYMENTS_BASE_URL: 'http://127.0.0.1:1',
      PAYMENTS_API_KEY: all.sandbox.apiKey,
    },
  });
  try {
    const { status, html } = await (await openPages(tallyhook)).get('/sandbox');
    expect(status).toBe(503);
    expect(html).toContain('npx tallyhook sandbox');
  } finally {
    await tallyhook.close();
    await db.drop();
  }
});

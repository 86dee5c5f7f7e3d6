/** `tallyhook trigger` has the sandbox send an event of every type that it can, and the ledger stays equal to it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/contract/events.ts';
import { createSandboxControl } from '../../src/demo/control.ts';
import { TRIGGERED_TYPES } from '../../src/demo/triggers.ts';
import { watchRecent } from '../../src/demo/watch.ts';
import { runTallyhook } from '../support/cli.ts';
import { type Environment, settingsFor } from '../support/program.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { waitFor } from '../support/waitFor.ts';

let running: SandboxConsole;
let env: Environment;
beforeAll(async () => {
  running = await startSandboxConsole(['receiver', 'events']);
  const { db, sandbox } = running;
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  });
});
afterAll(() => running.close());

const run = (...args: readonly string[]) => runTallyhook(['trigger', ...args], { env });

async function trigger(...args: readonly string[]) {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as {
    readonly event_id: string;
    readonly resource_id: string;
    readonly order_id: string;
    readonly delivery: string;
  };
}

/** The types of the events in the inbox that are about an order, oldest first. */
async function typesOf(orderId: string): Promise<readonly string[]> {
  const listed = await runTallyhook(['events', 'list', '--order', orderId, '--json'], { env });
  const { events } = JSON.parse(listed.stdout) as {
    readonly events: readonly { readonly event_type: string }[];
  };
  return events.map(({ event_type: type }) => type).toReversed();
}

async function waitUntilEqual(): Promise<void> {
  const control = createSandboxControl(running.sandbox.baseUrl);
  await waitFor('service and ledger to be equal', async () => {
    const watched = await watchRecent({ control, db: running.db }, { limit: 100 });
    return watched.length > 0 && watched.every(({ differences }) => differences.length === 0);
  });
}

describe.each(TRIGGERED_TYPES)('%s', (type) => {
  test('is sent, and arrives in the inbox', async () => {
    const sent = await trigger(type);
    expect(sent).toMatchObject({ event_type: type, delivery: 'delivered' });
    const rows = await running.db.query(
      'select event_type as type from webhook_events where event_id = $1',
      [sent.event_id],
    );
    expect(rows).toEqual([{ type }]);
  });
});

test('afterwards service and ledger are equal', waitUntilEqual);

test('with an order, an event is about what the order has', async () => {
  const paid = await trigger('payment_succeeded', '--order', 'ord_chain', '--amount', '6540');
  await trigger('refund_succeeded', '--order', 'ord_chain');
  await trigger('refund_failed', '--order', 'ord_chain');
  const opened = await trigger('dispute_opened', '--order', 'ord_chain');
  const lost = await trigger('dispute_lost', '--order', 'ord_chain');
  expect(lost.resource_id).toBe(opened.resource_id);
  await waitUntilEqual();
  expect(await typesOf('ord_chain')).toEqual([
    'payment_succeeded',
    'refund_succeeded',
    'refund_failed',
    'dispute_opened',
    'dispute_lost',
  ]);
  const resources = await running.db.query(
    `select kind, amount_minor as amount from resources where order_key = 'order:ord_chain' order by kind`,
  );
  expect(resources).toEqual(
    ['dispute', 'payment', 'refund'].map((kind) => ({ kind, amount: 6540 })),
  );
  expect(
    await running.db.query(
      `select result, subject_id as use from audit
        where order_key = 'order:ord_chain' and subject_id = 'event:payment_succeeded' order by id`,
    ),
  ).toEqual(['requested', 'done'].map((result) => ({ result, use: 'event:payment_succeeded' })));
  expect(paid.order_id).toBe('ord_chain');
});

test('a decision is about the dispute that was challenged', async () => {
  const opened = await trigger('dispute_opened', '--order', 'ord_challenged');
  const challenged = await trigger('dispute_challenged', '--order', 'ord_challenged');
  const won = await trigger('dispute_won', '--order', 'ord_challenged');
  expect([challenged, won].map((sent) => sent.resource_id)).toEqual([
    opened.resource_id,
    opened.resource_id,
  ]);
});

test.each([
  ['refund_suceeded', 'Did you mean refund_succeeded?'],
  ['payment.failed', 'Did you mean payment_failed?'],
  ['nothing_like_it', 'Choose from payment_succeeded, '],
])('%s is refused: %s', async (type, message) => {
  const { code, stdout, stderr } = await run(type, '--json');
  expect(code).toBe(2);
  expect(JSON.parse(stdout).error.message).toContain(message);
  expect(stderr).toContain(message);
});

test('types of the contract that the sandbox never sends are refused as such', async () => {
  const others = EVENT_TYPES.filter((type) => !TRIGGERED_TYPES.some((one) => one === type));
  expect(others).toEqual([
    'payment_cancelled_post_capture',
    'payment_partially_authorized',
    'mandate_active',
    'mandate_revoked',
    'payout_processing',
    'invoice_paid',
  ]);
  for (const type of others) {
    expect((await run(type)).stderr).toContain('The sandbox has nothing that sends it');
  }
});

test('what the sandbox refuses is an error, with its reason', async () => {
  await trigger('payment_failed', '--order', 'ord_refused');
  await trigger('refund_succeeded', '--order', 'ord_refused');
  const again = await run('refund_succeeded', '--order', 'ord_refused');
  expect(again).toMatchObject({ code: 4, stdout: '' });
  expect(again.stderr).toMatch(/The sandbox at http:\S+ refused: .* Without --order, /);
  expect(again.stderr).not.toContain('..');
});

describe('a failure names its cause, and what to do', () => {
  const failing = async (more: Environment = {}) => {
    const { code, stderr } = await runTallyhook(['trigger', 'payment_succeeded'], {
      env: { ...env, ...more },
    });
    return `${code} ${stderr}`;
  };

  test('nothing listens at the address', async () => {
    const message = await failing({ PAYMENTS_BASE_URL: 'http://127.0.0.1:9' });
    expect(message).toMatch(/^5 .*The sandbox at http:\/\/127.0.0.1:9 does not respond: \S/);
    expect(message).toContain('`npx tallyhook start`');
    const { stderr } = await runTallyhook(['trigger', 'dispute_won'], {
      env: { ...env, PAYMENTS_BASE_URL: 'http://127.0.0.1:9' },
    });
    expect(stderr).toMatch(/does not respond: (?!fetch failed)\S/);
  });

  test('another program listens at the address', async () => {
    const receiver = { PAYMENTS_BASE_URL: new URL(running.tallyhook.webhookUrl).origin };
    expect(await failing(receiver)).toMatch(/^4 .*refused: .*Another program may listen there/);
  });

  test('another key', async () => {
    const message = await failing({ PAYMENTS_API_KEY: 'snd_of_another_sandbox' });
    expect(message).toMatch(/^4 .*refused: .*AU_01.*PAYMENTS_API_KEY/);
  });

  test.each(['server_error', 'rate_limit'])('the fault %s, while it runs', async (fault) => {
    await running.sandbox.control('PUT', '/faults', { requests: [{ fault, path: '/payments' }] });
    const message = await failing();
    await running.sandbox.control('DELETE', '/faults');
    expect(message).toMatch(/^5 .*It runs\. .*fault/);
    expect(message).not.toContain('tallyhook start');
  });

  test('an amount that chooses another outcome', async () => {
    const { code, stderr } = await run('payout_success', '--amount', '7710');
    expect(code).toBe(4);
    expect(stderr).toMatch(
      /no payout_success of payout_\w+: its status is failed, with payout_failed/,
    );
  });

  test('an event that the receiver did not acknowledge, or that was not sent', async () => {
    const { sandbox } = running;
    const elsewhere = { url: 'http://127.0.0.1:9/webhooks' };
    await sandbox.control('PUT', '/webhook', elsewhere);
    const refused = await run('payment_succeeded');
    await sandbox.control('PUT', '/webhook', { url: null });
    const unsent = await run('payment_succeeded');
    await sandbox.control('PUT', '/webhook', { url: running.tallyhook.webhookUrl });
    expect(refused.stderr).toMatch(/no response\)\. `npx tallyhook doctor` names the reason/);
    expect(unsent.stderr).toMatch(/did not send it: it has no webhook address/);
  });
});

test('beside a service that may be real nothing is triggered', async () => {
  const real = { ...env, PAYMENTS_MERCHANT_ID: 'merchant_real' };
  const { code, stdout, stderr } = await runTallyhook(['trigger', 'payment_succeeded'], {
    env: real,
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('a payment service that may be real');
  expect(stderr).toContain('Nothing was done.');
});

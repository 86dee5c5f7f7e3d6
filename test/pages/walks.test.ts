/**
 * What a person on call does, in a real browser: from the link of a message to the done action, with at
 * most three clicks after the sign-in. With TALLYHOOK_PICTURES each step is a picture for
 * docs/console.md.
 */
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rule } from '../../src/alerts/domain/alert.ts';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { linksOf } from '../../src/notify/domain/links.ts';
import { searchMessages } from '../../src/notify/store/messageRows.ts';
import { alertOf } from '../support/alerts.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { browserPath, openTab, startBrowser, violationsOn } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { paymentEvent } from '../support/payments.ts';
import { holdStill, picturesFolder, takePicture } from '../support/pictures.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const MAX_CLICKS = 3;
/** Equal on every machine. */
const PICTURED = {
  viewport: { width: 1100, height: 800 },
  locale: 'en-US',
  timezoneId: 'UTC',
} as const;

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let db: TestDatabase;
  let sandbox: TestSandbox;
  let setup: AuthorizationTestSetup;
  let tallyhook: TestTallyhook;
  let browser: Browser;

  beforeAll(async () => {
    db = await createTestDatabase();
    sandbox = await startTestSandbox();
    setup = await setUpAuthorizations(sandbox, db);
    const env = {
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
    };
    tallyhook = await startTallyhook({ db, roles: ['console'], env });
    browser = await startBrowser();
    await applyEach(db, testApplier(db), [
      paymentEvent({ payment_id: 'pay_1001', orderId: '1001' }),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await tallyhook.close();
    await sandbox.close();
    await db.drop();
  });

  /** The link with this label in the message about the subject. */
  const linkTo = async (subject: string, label: string): Promise<string> => {
    const notifier = createTestNotifier({ db, env: {} });
    const all = { state: undefined, channel: undefined, kind: undefined };
    const first = { below: Number.MAX_SAFE_INTEGER, limit: 100 };
    let url: string | undefined;
    // Notifications that follow others within a moment wait for their batch.
    await waitFor(`a message about ${subject} with the link ${label}`, async () => {
      await notifier.dispatch();
      const { rows } = await searchMessages(db, all, first);
      const links = rows.flatMap(({ content }) =>
        content.kind === 'alert' && content.alert.subject === subject
          ? linksOf(content, `http://127.0.0.1:${tallyhook.consolePort}`)
          : [],
      );
      url = links.find((one) => one.label === label)?.url;
      return url !== undefined;
    });
    return url ?? '';
  };

  const raise = async (rule: Rule, subject: string, sentence: string): Promise<void> => {
    const active = [alertOf({ rule, subject, sentence, severity: 'critical' })];
    await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: [rule], active }]));
  };

  /** Opens a link as a person who is not signed in, and counts the clicks after the sign-in. */
  const startWalk = async (name: string, url: string) => {
    const context = await browser.newContext(PICTURED);
    await holdStill(context);
    const page = await openTab(context);
    await page.goto(url);
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL((at) => at.pathname === new URL(url).pathname);
    let clicks = 0;
    await takePicture(page, `${name}-1`);
    return {
      page,
      click: async (target: Locator) => {
        await target.click();
        clicks += 1;
      },
      /** @param text the notice of the done action */
      done: async (text: RegExp) => {
        await page.getByRole('status').filter({ hasText: text }).waitFor();
        await takePicture(page, `${name}-3`);
        expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
        await context.close();
      },
    };
  };
  test('a dispute is contested with evidence', async () => {
    const order = { metadata: { order_id: '1002' } };
    const paymentId = await setup.authorize({ capture_method: 'automatic', ...order });
    const opened = { payment_id: paymentId, amount: 5400, reason_code: '13.1' };
    const id = (await sandbox.call('POST', '/_sandbox/disputes', opened)).body.dispute_id;
    await setup.applyWebhooks();
    const url = await linkTo(`dispute:${id}`, 'Open the dispute');
    const { page, click, done } = await startWalk('dispute', url);
    await click(page.getByRole('link', { name: 'Submit evidence' }));
    await page.getByLabel('Shipping carrier').fill('DHL');
    await page.getByLabel('Shipping tracking number').fill('00340434161094042557');
    await page.getByLabel('Reason').fill('Delivered on 12 November');
    const submit = page.getByRole('button', { name: 'Submit evidence' });
    await takePicture(page, 'dispute-2', submit);
    await click(submit);
    await done(/Submitted/);
    const { body } = await sandbox.call('GET', `/disputes/evidence/${id}`);
    expect(body.evidence.shipping_information).toMatchObject({ shipping_carrier: 'DHL' });
    expect((await sandbox.call('GET', `/disputes/${id}`)).body.dispute_status).toBe(
      'dispute_challenged',
    );
  });

  test('a failed payout is paid again', async () => {
    const stored = { payout_type: 'bank', payout_method_id: 'pm_stored', auto_fulfill: true };
    const request = { amount: 2500, currency: 'EUR', confirm: true, ...stored };
    const { body } = await sandbox.call('POST', '/payouts/create', request);
    const id = body.payout_id;
    await sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
    await setup.applyWebhooks();
    const url = await linkTo(`payout:${id}`, 'Open the payout');
    const { page, click, done } = await startWalk('payout', url);
    await click(page.getByRole('link', { name: 'Pay it again' }));
    await page.getByLabel('Type the amount in EUR').fill('25.00');
    await page.getByLabel('Reason').fill('The payee opened the account again');
    await takePicture(page, 'payout-2');
    expect(await violationsOn(page)).toEqual([]);
    await click(page.getByRole('button', { name: 'Pay again' }));
    await done(/Paid again: 25\.00 EUR/);
    const filter = { merchant_order_reference_id: `again_${id}` };
    const again = async () => (await sandbox.call('POST', '/payouts/list', filter)).body.data;
    await waitFor('the new payout', async () => (await again())[0]?.status === 'success');
    expect(await again()).toMatchObject([{ amount: 2500 }]);
  });

  test('an authorization that is about to expire is captured', async () => {
    const id = await setup.authorize({ metadata: { order_id: '1003' } });
    await setup.check.run();
    const subject = `payment:${id}`;
    await raise(
      'authorization_expiring',
      subject,
      `The authorization of ${id} is about to expire.`,
    );
    const url = await linkTo(subject, 'Open the payment');
    const { page, click, done } = await startWalk('hold', url);
    await click(page.getByRole('link', { name: 'Capture it' }));
    await page.getByLabel('Reason').fill('Shipped today');
    await takePicture(page, 'hold-2');
    await click(page.getByRole('checkbox'));
    await click(page.getByRole('button', { name: 'Capture' }));
    await done(/65\.40 USD/);
    expect((await sandbox.call('GET', `/payments/${id}`)).body.status).toBe('succeeded');
  });

  test('silence of webhooks: a reconcile run is started', async () => {
    await raise('webhooks_stopped', 'system:webhooks', 'No webhook arrived for 45 minutes.');
    const url = await linkTo('system:webhooks', 'Open the alert');
    const { page, click, done } = await startWalk('silence', url);
    await click(page.getByRole('link', { name: 'Reconciliation', exact: true }));
    const start = page.getByRole('button', { name: 'Start' });
    await takePicture(page, 'silence-2', start);
    await click(start);
    await done(/./);
  });

  test.runIf(picturesFolder !== undefined)('pictures of the main screens', async () => {
    const context = await browser.newContext(PICTURED);
    await holdStill(context);
    const page = await openTab(context);
    const base = `http://127.0.0.1:${tallyhook.consolePort}`;
    await page.goto(`${base}/`);
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [name, path] of MAIN_SCREENS) {
      await page.goto(`${base}${path}`);
      await takePicture(page, name);
    }
    await context.close();
  });
});

const MAIN_SCREENS = [
  ['overview', '/'],
  ['search', '/search?q=65.40+USD'],
  ['orders', '/orders'],
  ['order', '/orders/1001'],
  ['event', '/inbox/1'],
  ['reconciliation', '/reconciliation'],
  ['ledger', '/ledger'],
  ['alerts', '/alerts'],
] as const;

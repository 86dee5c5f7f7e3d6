/**
 * What a person on call does, in a real browser: from the link of a message to the done action, with at
 * most three clicks after the sign-in. With TALLYHOOK_PICTURES each step is a picture for
 * docs/console.md.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rule } from '../../src/alerts/domain/alert.ts';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { linksOf } from '../../src/notify/domain/links.ts';
import { readMessageRows } from '../../src/notify/store/messageRows.ts';
import { alertOf } from '../support/alerts.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { browserPath, startBrowser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { disputeEvent, paymentEvent, payoutEvent } from '../support/payments.ts';
import { picturesFolder, takePicture } from '../support/pictures.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

const MAX_CLICKS = 3;
const SIZE = { width: 1100, height: 800 };

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
    await createTestNotifier({ db, env: {} }).dispatch();
    const all = { state: undefined, channel: undefined, kind: undefined };
    const rows = await readMessageRows(db, { ...all, below: Number.MAX_SAFE_INTEGER, limit: 100 });
    const links = rows.flatMap(({ content }) =>
      content.kind === 'alert' && content.alert.subject === subject
        ? linksOf(content, `http://127.0.0.1:${tallyhook.consolePort}`)
        : [],
    );
    const link = links.find((one) => one.label === label);
    if (!link) throw new Error(`no message about ${subject} has the link ${label}`);
    return link.url;
  };

  const raise = async (rule: Rule, subject: string, sentence: string): Promise<void> => {
    const active = [alertOf({ rule, subject, sentence, severity: 'critical' })];
    await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: [rule], active }]));
  };

  /** Opens a link as a person who is not signed in, and counts the clicks after the sign-in. */
  const startWalk = async (name: string, url: string) => {
    const context = await browser.newContext({ viewport: SIZE });
    const page = await context.newPage();
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
  const alertLink = (page: Page): Locator =>
    page.getByRole('main').locator('a[href^="/alerts/"]').first();

  /** From the page of the subject over its alert to the acknowledgement. */
  const acknowledge = async (name: string, url: string) => {
    const { page, click, done } = await startWalk(name, url);
    await click(alertLink(page));
    const form = page.locator('form.action').filter({ hasText: 'Acknowledge' });
    await form.getByLabel('Reason').fill('Handled by the night shift');
    await takePicture(page, `${name}-2`);
    await click(form.getByRole('button', { name: 'Acknowledge' }));
    await done(/Acknowledged|acknowledged/);
  };

  test('a dispute: its deadline and reason, and who handles it', async () => {
    const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString();
    await applyEach(db, testApplier(db), [
      disputeEvent('pay_1001', { dispute_id: 'dp_1001', challenge_required_by: tomorrow }),
    ]);
    await acknowledge('dispute', await linkTo('dispute:dp_1001', 'Open the dispute'));
  });

  test('a failed payout: its reason and advice, and who handles it', async () => {
    await applyEach(db, testApplier(db), [
      payoutEvent({ payout_id: 'po_77', modified_at: new Date().toISOString() }),
    ]);
    await acknowledge('payout', await linkTo('payout:po_77', 'Open the payout'));
  });

  test('an authorization that is about to expire is captured', async () => {
    const id = await setup.authorize();
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
    await takePicture(page, 'silence-2');
    await click(page.getByRole('button', { name: 'Start' }));
    await done(/./);
  });

  test.runIf(picturesFolder !== undefined)('pictures of the main screens', async () => {
    const page = await browser.newPage({ viewport: SIZE });
    const base = `http://127.0.0.1:${tallyhook.consolePort}`;
    await page.goto(`${base}/`);
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [name, path] of MAIN_SCREENS) {
      await page.goto(`${base}${path}`);
      await takePicture(page, name);
    }
    await page.close();
  });
});

const MAIN_SCREENS = [
  ['overview', '/'],
  ['search', '/search?q=65.40+USD'],
  ['orders', '/orders'],
  ['order', '/orders/1001'],
  ['reconciliation', '/reconciliation'],
  ['ledger', '/ledger'],
  ['alerts', '/alerts'],
] as const;

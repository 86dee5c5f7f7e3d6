/** A person contests a dispute with a file, in a real browser, from the list to the submitted evidence. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setUpAuthorizations } from '../support/authorizations.ts';
import { browserPath, openTab, startBrowser, violationsOn } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

const HOSTILE = `"><img src=x onerror=window.hostile=1>`;

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let db: TestDatabase;
  let sandbox: TestSandbox;
  let tallyhook: TestTallyhook;
  let browser: Browser;
  let disputeId: string;

  beforeAll(async () => {
    db = await createTestDatabase();
    sandbox = await startTestSandbox();
    const setup = await setUpAuthorizations(sandbox, db);
    const paymentId = await setup.authorize({ capture_method: 'automatic' });
    const opened = { payment_id: paymentId, amount: 5400, reason_code: '13.1', reason: HOSTILE };
    disputeId = (await sandbox.call('POST', '/_sandbox/disputes', opened)).body.dispute_id;
    await setup.applyWebhooks();
    const env = {
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
    };
    tallyhook = await startTallyhook({ db, roles: ['console'], env });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await tallyhook.close();
    await sandbox.close();
    await db.drop();
  });

  test('a dispute is contested with a file that was uploaded first', async () => {
    const page = await openTab(browser);
    await page.goto(`http://127.0.0.1:${tallyhook.consolePort}/disputes`);
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: disputeId }).click();
    await page.getByText('Evidence is due: 9 days').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Submit evidence' }).click();
    const name = `${HOSTILE}.pdf`;
    const buffer = Buffer.from('%PDF-1.7 proof of delivery');
    await page.getByLabel('File', { exact: false }).first().setInputFiles({
      name,
      mimeType: 'application/pdf',
      buffer,
    });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Choose the file in a field below').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Shipping documentation').selectOption({ index: 1 });
    await page.getByLabel('Shipping carrier').fill('DHL');
    await page.getByLabel('Reason').fill('delivered on 12 November');
    await page.getByRole('button', { name: 'Submit evidence' }).click();
    await page.getByText('Evidence can be changed: 9 days').waitFor();
    expect(await page.evaluate('window.hostile')).toBeUndefined();
    const { body } = await sandbox.call('GET', `/disputes/evidence/${disputeId}`);
    expect(body.evidence).toEqual({
      shipping_information: {
        shipping_carrier: 'DHL',
        shipping_documentation: expect.stringMatching(/^file_/),
      },
    });
    await page.close();
  });
});

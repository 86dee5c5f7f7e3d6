/** The hosted pages in a real browser, with its own rules about origins, forms and redirects. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import { browserPath, openTab, startBrowser } from '../support/browser.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { BILLING } from '../support/sandboxRequests.ts';

const CARD_ONLY = {
  card_number: testCard('customer_action'),
  card_exp_month: '12',
  card_exp_year: '2039',
  card_cvc: '123',
};

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let sandbox: TestSandbox;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    sandbox = await startTestSandbox();
    browser = await startBrowser();
    page = await openTab(browser);
  });
  afterAll(async () => {
    await browser.close();
    await sandbox.close();
  });

  const see = (text: string) => page.getByText(text).first().waitFor();
  const submit = async (values: Readonly<Record<string, string>>, button: string) => {
    for (const [name, value] of Object.entries(values)) {
      await page.locator(`[name="${name}"]`).fill(value);
    }
    await page.getByRole('button', { name: button, exact: true }).click();
  };

  test('a customer pays by a link, with 3-D Secure, and returns to it', async () => {
    const link = await sandbox.call('POST', '/payment_link', {
      amount: 2500,
      currency: 'EUR',
      description: 'Three <shirts>',
      require_customer_info: true,
    });
    const { payment_link_id: id, link_to_pay: url } = link.body;
    await page.goto(url);
    await see('Three <shirts>');
    const values = {
      ...CARD_ONLY,
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      ...BILLING.address,
      phone: BILLING.phone.number,
      phone_country_code: BILLING.phone.country_code,
    };
    await submit({ ...values, country: 'Germany' }, 'Pay');
    await see('billing.address.country: expected two capital letters');
    // The entered values are kept, except for the card.
    await submit({ ...CARD_ONLY, country: 'US' }, 'Pay');
    await see('Fail the check');
    await submit({}, 'Pay');
    await see('This link is completed');
    const { body } = await sandbox.call('GET', `/payment_link/${id}`);
    const paid = await sandbox.call('GET', `/payments/${body.payment_id}`);
    expect(paid.body).toMatchObject({ status: 'succeeded', amount: 2500, name: 'Ada Lovelace' });
  });

  test('a receiver enters the account for a payout through a link', async () => {
    const request = { amount: 900, currency: 'EUR', payout_link: true };
    const { body } = await sandbox.call('POST', '/payouts/create', request);
    await page.goto(body.payout_link.link);
    await see('9.00 EUR for you');
    const account = {
      account_holder_name: 'Ada',
      iban: 'DE02120300000000202051',
      bic: 'BYLADEM1',
    };
    await submit(account, 'Receive');
    await see('Your account is known. The payout is requires_fulfillment');
  });
});

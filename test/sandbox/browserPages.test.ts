/** The hosted pages in a real browser, with its own rules about origins, forms and redirects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import { type Browser, browserCommand, startBrowser } from '../support/browser.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { BILLING } from '../support/sandboxRequests.ts';

const CARD_ONLY = {
  card_number: testCard('customer_action'),
  ...{ card_exp_month: '12', card_exp_year: '2039', card_cvc: '123' },
};

describe.skipIf(browserCommand === undefined)(
  'in a browser (skipped where none is installed)',
  () => {
    let sandbox: TestSandbox;
    let browser: Browser;
    beforeAll(async () => {
      sandbox = await startTestSandbox();
      browser = await startBrowser(browserCommand ?? '');
    });
    afterAll(async () => {
      await browser.close();
      await sandbox.close();
    });

    test('a customer pays by a link, with 3-D Secure, and returns to it', async () => {
      const link = await sandbox.call('POST', '/payment_link', {
        amount: 2500,
        currency: 'EUR',
        description: 'Three <shirts>',
        require_customer_info: true,
      });
      const { payment_link_id: id, link_to_pay: url } = link.body;
      await browser.open(url);
      await browser.see('Three <shirts>');
      const values = {
        ...CARD_ONLY,
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        ...BILLING.address,
        phone: BILLING.phone.number,
        phone_country_code: BILLING.phone.country_code,
      };
      await browser.submit({ ...values, country: 'Germany' }, 'Pay');
      await browser.see('billing.address.country: expected two capital letters');
      // The entered values are kept, except for the card.
      await browser.submit({ ...CARD_ONLY, country: 'US' }, 'Pay');
      await browser.see('Fail the check');
      await browser.submit({}, 'Pay');
      await browser.see('This link is completed');
      const { body } = await sandbox.call('GET', `/payment_link/${id}`);
      const paid = await sandbox.call('GET', `/payments/${body.payment_id}`);
      expect(paid.body).toMatchObject({ status: 'succeeded', amount: 2500, name: 'Ada Lovelace' });
    });

    test('a receiver enters the account for a payout through a link', async () => {
      const request = { amount: 900, currency: 'EUR', payout_link: true };
      const { body } = await sandbox.call('POST', '/payouts/create', request);
      await browser.open(body.payout_link.link);
      await browser.see('9.00 EUR for you');
      const account = {
        account_holder_name: 'Ada',
        iban: 'DE02120300000000202051',
        bic: 'BYLADEM1',
      };
      await browser.submit(account, 'Receive');
      await browser.see('Your account is known. The payout is requires_fulfillment');
    });
  },
);

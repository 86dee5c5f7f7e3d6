/** The keyboard, copies of ids and the choice of a theme, in a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { browserPath, openTab, startBrowser, violationsOn } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

const PAYMENT = 'pay_keyboard';

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let db: TestDatabase;
  let tallyhook: TestTallyhook;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const url = (path: string) => `http://127.0.0.1:${tallyhook.consolePort}${path}`;
  const signIn = async (signedOut: Page): Promise<void> => {
    await signedOut.goto(url('/'));
    await signedOut.getByLabel('Token').fill(ADMIN_TOKEN);
    await signedOut.getByRole('button', { name: 'Sign in' }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  };
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  beforeAll(async () => {
    db = await createTestDatabase();
    await applyEach(db, testApplier(db), [
      paymentEvent({ payment_id: PAYMENT, metadata: { order_id: 'ord_keyboard' } }),
    ]);
    tallyhook = await startTallyhook({ db, roles: ['console'] });
    browser = await startBrowser();
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = await openTab(context);
    await signIn(page);
  });
  afterAll(async () => {
    await browser.close();
    await tallyhook.close();
    await db.drop();
  });

  test('sections, the search and the help are reached by keyboard', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await heading('Payments').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await page.keyboard.type('go?');
    expect(await page.getByRole('searchbox').inputValue()).toBe('go?');
  });

  test('shortcuts can be switched off', async () => {
    await page.goto(url('/payments'));
    await page.keyboard.press('?');
    await page.getByLabel('Use these shortcuts').uncheck();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('?');
    expect(await page.getByRole('heading', { name: 'Keyboard shortcuts' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByLabel('Use these shortcuts').check();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  test('an id is copied with a button, and the id of a link with c', async () => {
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await page.goto(url(`/payments/${PAYMENT}`));
    await page.getByRole('button', { name: `Copy ${PAYMENT}` }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(`Copied ${PAYMENT}`).waitFor();
    expect(await copied()).toBe(PAYMENT);
    await page.evaluate(`navigator.clipboard.writeText('')`);
    await page.goto(url('/payments'));
    await page.getByRole('rowheader').getByRole('link', { name: PAYMENT }).focus();
    await page.keyboard.press('c');
    await page.getByText(`Copied ${PAYMENT}`).waitFor();
    expect(await copied()).toBe(PAYMENT);
  });

  test('Enter in the form of several alerts carries out nothing: a button chooses what is done', async () => {
    const subject = 'payment:pay_entered';
    await syncAlerts(db, [{ subject, rules: ['dispute_opened'], active: [alertOf({ subject })] }]);
    await page.goto(url('/alerts'));
    await page.getByLabel('Select alert').check();
    await page.getByLabel('Reason').fill('known');
    const to = page.getByRole('textbox', { name: /^To/ });
    await to.fill('ada');
    await page.evaluate(`{
      window.sent = [];
      document.addEventListener('submit', (event) => {
        event.preventDefault();
        window.sent.push(event.submitter?.value);
      });
    }`);
    await to.press('Enter');
    expect(await page.evaluate('sent')).toEqual([]);
    await page.getByRole('button', { name: 'Assign' }).click();
    expect(await page.evaluate('sent')).toEqual(['assign']);
    expect(await violationsOn(page)).toEqual([]);
  });

  describe('of a viewer in India with a phone', () => {
    let phone: BrowserContext;
    let held: Page;
    beforeAll(async () => {
      phone = await browser.newContext({
        viewport: { width: 360, height: 640 },
        locale: 'en-GB',
        timezoneId: 'Asia/Kolkata',
      });
      held = await openTab(phone);
      await signIn(held);
    });
    afterAll(() => phone.close());

    test.each(['/payments', `/orders/ord_keyboard`])(
      'times on %s are local and name their zone, with UTC on hover',
      async (path) => {
        await held.goto(url(path));
        const time = held.locator('time:not([data-relative])').first();
        expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC · /);
        expect(await time.textContent()).toMatch(/\d\d:\d\d:\d\d GMT\+5:30$/);
      },
    );

    test('a deadline has its hour and zone beside its distance', async () => {
      const subject = 'dispute:dp_hour';
      const deadlineAt = new Date(Date.now() + 5.5 * 3_600_000);
      const due = alertOf({ rule: 'dispute_deadline', subject, deadlineAt });
      await syncAlerts(db, [{ subject, rules: ['dispute_deadline'], active: [due] }]);
      const minute = new Intl.DateTimeFormat('en-GB', {
        timeZone: 'Asia/Kolkata',
        hour: '2-digit',
        minute: '2-digit',
      }).format(deadlineAt);
      for (const path of ['/', '/alerts']) {
        await held.goto(url(path));
        const text = await held.locator('tbody time', { hasText: /^in 5 hr/ }).textContent();
        expect(text).toMatch(
          new RegExp(`^in 5 hr\\.?, \\d+ [A-Z][a-z]+,? .*${minute} GMT\\+5:30$`),
        );
        expect(await held.evaluate('document.documentElement.scrollWidth')).toBe(360);
      }
    });
  });

  test.each([true, false])('a theme is chosen and kept; script: %s', async (javaScriptEnabled) => {
    const own = await browser.newContext({ javaScriptEnabled, colorScheme: 'light' });
    const other = await openTab(own);
    await signIn(other);
    await other.goto(url('/payments?status=succeeded'));
    await other.getByRole('button', { name: 'dark' }).click();
    await other.getByRole('button', { name: 'dark', pressed: true }).waitFor();
    expect(other.url()).toBe(url('/payments?status=succeeded'));
    await other.goto(url('/orders'));
    expect(await other.locator('html').getAttribute('data-theme')).toBe('dark');
    await own.close();
  });
});

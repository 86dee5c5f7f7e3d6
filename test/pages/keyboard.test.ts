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

  /** An open alert. @returns its number */
  const raiseAlert = async (subject: string): Promise<number> => {
    await syncAlerts(db, [{ subject, rules: ['dispute_opened'], active: [alertOf({ subject })] }]);
    const [row] = await db.query<{ id: number }>('select max(id)::int as id from alerts');
    return row?.id ?? 0;
  };

  test('on the way back to a list, its filter is that of its rows, and it follows the ledger', async () => {
    const own = await openTab(context);
    await own.goto(url('/alerts'));
    const state = own.getByLabel('State');
    for (const chosen of ['acknowledged', 'resolved']) {
      await state.selectOption(chosen);
      await own.getByRole('button', { name: 'Filter' }).click();
      await own.waitForURL((one) => one.searchParams.get('state') === chosen);
    }
    for (const shown of ['acknowledged', 'unresolved']) {
      await own.goBack();
      expect(await state.inputValue()).toBe(shown);
    }
    await own.locator('#live-mark').waitFor();
    await own.close();
  });

  test('on the way back to a list, no row is checked in place of one that was handled', async () => {
    const [first, second] = [
      await raiseAlert('payment:pay_one'),
      await raiseAlert('payment:pay_two'),
    ];
    const own = await openTab(context);
    await own.goto(url('/alerts?state=open'));
    await own.getByLabel(`Select alert ${second}`).check();
    await own.getByLabel('Reason').fill('known');
    await own.getByRole('button', { name: 'Acknowledge' }).click();
    await own.getByText('1 alert is acknowledged.').waitFor();
    await own.goBack();
    const other = own.getByLabel(`Select alert ${first}`);
    expect(await other.isChecked()).toBe(false);
    expect(await own.getByLabel(`Select alert ${second}`).count()).toBe(0);
    await own.close();
  });

  test('a list with rows to check is printed, without what can be done with them', async () => {
    await raiseAlert('payment:pay_printed');
    await page.goto(url('/alerts'));
    const isSeen = (selector: string) => page.locator(selector).first().isVisible();
    const parts = ['main table', 'form.filter', '.choices', 'footer', '.search'];
    expect(await Promise.all(parts.map(isSeen))).toEqual([true, true, true, true, true]);
    await page.emulateMedia({ media: 'print' });
    expect(await Promise.all(parts.map(isSeen))).toEqual([true, false, false, false, false]);
    await page.emulateMedia({ media: 'screen' });
  });

  test('alerts are handled in the list that was shown, and its notice is shown once', async () => {
    const number = await raiseAlert('payment:pay_filtered');
    const list = url('/alerts?state=open&rule=dispute_opened');
    await page.goto(list);
    await page.getByLabel(`Select alert ${number}`).check();
    await page.getByLabel('Reason').fill('known');
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('1 alert is acknowledged.').waitFor();
    // The notice is part of the address until the page's script has run.
    await page.waitForURL(list);
    await page.reload();
    expect(await page.getByText('1 alert is acknowledged.').count()).toBe(0);
  });

  test('a second click sends nothing, so that the first one has its response', async () => {
    const number = await raiseAlert('payment:pay_twice');
    await page.goto(url('/alerts'));
    await page.getByLabel(`Select alert ${number}`).check();
    await page.getByLabel('Reason').fill('known');
    const isHeld = await page.evaluate(`{
      const held = [];
      document.addEventListener('submit', (event) => {
        held.push(event.defaultPrevented);
        event.preventDefault();
      });
      const button = document.querySelector('button[value="acknowledge"]');
      button.click();
      button.click();
      held;
    }`);
    expect(isHeld).toEqual([false, true]);
    await page.getByText('Sent already.').waitFor();
  });

  test('what was typed is kept when the session ends, and can be sent after the next sign-in', async () => {
    const number = await raiseAlert('payment:pay_typed');
    const reason = 'an explanation that took minutes';
    const own = await openTab(context);
    await own.goto(url(`/alerts/${number}`));
    const form = own.locator('form', { has: own.getByRole('button', { name: 'Acknowledge' }) });
    await form.getByLabel('Reason').fill(reason);
    await db.query('update console_sessions set ended_at = now() where ended_at is null');
    await own.getByText('Your session has ended.').waitFor();
    expect(await form.getByLabel('Reason').inputValue()).toBe(reason);
    await form.getByRole('button').click();
    await own.getByRole('heading', { level: 1, name: 'Your session has ended' }).waitFor();
    expect(await violationsOn(own)).toEqual([]);
    const opened = context.waitForEvent('page');
    await own.getByRole('link', { name: 'Sign in in another tab' }).click();
    await signIn(await opened);
    await own.getByRole('button', { name: 'Continue' }).click();
    await own.getByRole('heading', { level: 1, name: 'Check what you send' }).waitFor();
    expect(await violationsOn(own)).toEqual([]);
    await own.getByRole('button', { name: 'Send', exact: true }).click();
    await own.getByText(`Alert ${number} is acknowledged.`).waitFor();
    await own.close();
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

    test('the bodies that are compared can be distinguished: each choice has a line of its own', async () => {
      await held.goto(url(`/payments/${PAYMENT}/bodies`));
      const [left, right] = [held.getByLabel('Left'), held.getByLabel('Right')];
      const boxes = [await left.boundingBox(), await right.boundingBox()];
      for (const box of boxes) expect(box?.width).toBeGreaterThan(300);
      expect(boxes[1]?.y).toBeGreaterThan(boxes[0]?.y ?? Number.NaN);
    });

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

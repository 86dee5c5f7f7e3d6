/**
 * Sign-in at an identity provider in a real browser, where the console and the provider are different sites:
 * only a browser shows whether its cookies and its policy let the way there and back through.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, openTab, startBrowser, violationsOn } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  CONSOLE_URL,
  type IdentityProvider,
  startIdentityProvider,
} from '../support/identityProvider.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let db: TestDatabase;
  let provider: IdentityProvider;
  let tallyhook: TestTallyhook;
  let browser: Browser;

  beforeAll(async () => {
    db = await createTestDatabase();
    provider = await startIdentityProvider();
    tallyhook = await startTallyhook({ db, roles: ['console'], env: provider.env });
    const host = new URL(CONSOLE_URL).hostname;
    browser = await startBrowser([
      `--host-resolver-rules=MAP ${host} 127.0.0.1:${tallyhook.consolePort}`,
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await tallyhook.close();
    await provider.close();
    await db.drop();
  });

  /** From the console to the provider, and through its pages. */
  const signInAtProvider = async (page: Page, person: string): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in at' }).click();
    await page.locator('input[name="login"]').fill(person);
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  const open = async (): Promise<{ context: BrowserContext; page: Page; mistakes: string[] }> => {
    const context = await browser.newContext();
    const page = await openTab(context);
    const mistakes: string[] = [];
    page.on('console', (message) => {
      const isOurs = page.url().startsWith(CONSOLE_URL);
      // The browser ignores one header of pages that come neither by TLS nor from this machine.
      const isMistake = message.type() === 'error' && !/Opener-Policy/.test(message.text());
      if (isOurs && isMistake) mistakes.push(message.text());
    });
    return { context, page, mistakes };
  };

  test('a person arrives at the wanted page, signs out here, and at the provider', async () => {
    const { context, page, mistakes } = await open();
    await page.goto(`${CONSOLE_URL}/orders?status=paid`);
    expect(await violationsOn(page)).toEqual([]);
    await signInAtProvider(page, 'ada');
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    expect(page.url()).toBe(`${CONSOLE_URL}/orders?status=paid`);
    await page.getByText('ada@shop.example (ada) (operator)').waitFor();
    const cookies = await context.cookies(CONSOLE_URL);
    expect(cookies.map(({ name, sameSite, httpOnly }) => ({ name, sameSite, httpOnly }))).toEqual([
      { name: 'tallyhook_session', sameSite: 'Strict', httpOnly: true },
    ]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    const atProvider = page.getByRole('link', { name: 'Sign out at' });
    await atProvider.waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await atProvider.click();
    await page.locator('button[value="yes"]').click();
    await page.getByRole('link', { name: 'Sign in at' }).waitFor();
    expect(page.url()).toMatch(`${CONSOLE_URL}/sign-in`);
    expect(mistakes).toEqual([]);
    await context.close();
  });

  test('a link that signs in leads to its page from a page of another site, too', async () => {
    const { context, page, mistakes } = await open();
    const path = await tallyhook.createSignInPath('/orders?status=paid');
    const body = `<a href="${CONSOLE_URL}${path}">Open the console</a>`;
    await page.route('http://chat.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body }),
    );
    await page.goto('http://chat.example/');
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForURL(/\/orders|\/sign-in\?next/);
    expect(page.url()).toBe(`${CONSOLE_URL}/orders?status=paid`);
    expect(mistakes).toEqual([]);
    await context.close();
  });

  test('a person without a role sees why, and can sign out at the provider', async () => {
    const { context, page } = await open();
    await page.goto(CONSOLE_URL);
    await signInAtProvider(page, 'eve');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('You have no role in Tallyhook');
    expect(await violationsOn(page)).toEqual([]);
    expect(await context.cookies(CONSOLE_URL)).toEqual([]);
    await page.getByRole('link', { name: 'Sign out at' }).waitFor();
    await context.close();
  });
});

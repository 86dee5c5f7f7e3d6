/** A scenario of the sandbox in a real browser, from the click to the repaired ledger, in both themes. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, openTab, startBrowser, violationsOn } from '../support/browser.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let browser: Browser;
  let page: Page;
  const mistakes: string[] = [];

  beforeAll(async () => {
    all = await startSandboxConsole();
    browser = await startBrowser();
    page = await openTab(browser);
    page.on('pageerror', (error) => mistakes.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') mistakes.push(`${page.url()}: ${message.text()}`);
    });
    await page.goto(`http://127.0.0.1:${all.tallyhook.consolePort}/sandbox`);
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sandbox' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  /** Neither theme violates WCAG, and a phone shows the page without scrolling sideways. */
  async function expectSound(): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect.soft(await violationsOn(page), `${colorScheme} ${page.url()}`).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect.soft(width, page.url()).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  test('a person plays a lost webhook, sees the difference, reconciles, and sees it repaired', async () => {
    const card = page.getByRole('listitem').filter({ hasText: 'A webhook is lost' });
    await card.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('heading', { level: 1, name: 'A webhook is lost' }).waitFor();
    expect(await page.getByText('The ledger differs from the service').count()).toBe(1);
    await expectSound();
    await page.getByRole('button', { name: 'Reconcile now' }).click();
    await waitFor('the repaired ledger', async () => {
      await page.getByRole('link', { name: 'Refresh' }).click();
      return (await page.getByText('The ledger equals the service, to the cent.').count()) > 0;
    });
    await page.getByRole('link', { name: 'Order in the ledger' }).click();
    await page.getByRole('heading', { level: 1, name: /^Order play-/ }).waitFor();
    await page.getByRole('link', { name: 'Sandbox', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Sandbox' }).waitFor();
    await expectSound();
    expect(mistakes).toEqual([]);
  });
});

/** Every page of the console in a real browser: both themes, on a phone, and without a script. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, startBrowser, violationsOn } from '../support/browser.ts';
import { addConsoleExamples, addExamples, EXAMPLE_PAGES } from '../support/pageExamples.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';

const PHONE = { width: 360, height: 740 };

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let paths: readonly string[];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const mistakes: string[] = [];
  const url = (path: string) => `http://127.0.0.1:${all.tallyhook.consolePort}${path}`;

  const signIn = async (signedOut: Page): Promise<void> => {
    await signedOut.goto(url('/'));
    await signedOut.getByLabel('Token').fill(ADMIN_TOKEN);
    await signedOut.getByRole('button', { name: 'Sign in' }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  };

  beforeAll(async () => {
    all = await startSandboxConsole(['console']);
    await addExamples(all.db);
    const { pathOf } = await addConsoleExamples(all);
    paths = EXAMPLE_PAGES.map(({ path }) => pathOf(path));
    browser = await startBrowser();
    context = await browser.newContext();
    page = await context.newPage();
    page.on('pageerror', (error) => mistakes.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      // The browser logs the page that does not exist; everything else is a mistake.
      const isExpected = /status of 404/.test(message.text()) && page.url() === url('/nothing');
      if (message.type() === 'error' && !isExpected) {
        mistakes.push(`${page.url()}: ${message.text()}`);
      }
    });
    await signIn(page);
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  test.each(['light', 'dark'] as const)('no page violates WCAG 2.2 AA: %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const path of [...paths, '/nothing']) {
      await page.goto(url(path));
      expect.soft(await violationsOn(page), path).toEqual([]);
    }
    expect(mistakes).toEqual([]);
  });

  test('nothing from outside runs on any page', async () => {
    for (const path of paths) {
      await page.goto(url(path));
      expect(await page.evaluate('window.hostile'), path).toBeUndefined();
    }
    expect(mistakes).toEqual([]);
  });

  test('no page is wider than a phone', async () => {
    await page.setViewportSize(PHONE);
    for (const path of paths) {
      await page.goto(url(path));
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect.soft(width, path).toBeLessThanOrEqual(PHONE.width);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('on a desk no alert is cut, and no id of a list takes a line for each character', async () => {
    await page.setViewportSize({ width: 1100, height: 800 });
    for (const path of paths) {
      await page.goto(url(path));
      const narrow = await page.evaluate(
        `[...document.querySelectorAll('tbody .id')].map((id) => id.textContent + ' ' + id.offsetWidth)
           .filter((text) => Number(text.split(' ').at(-1)) < 80)`,
      );
      expect.soft(narrow, path).toEqual([]);
    }
    await page.goto(url('/alerts'));
    const hidden = await page.evaluate(
      `[...document.querySelectorAll('.scroll')].map((list) => list.scrollWidth - list.clientWidth)`,
    );
    expect(hidden).toEqual([0]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('the sign-in violates nothing, and works without a script', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const signedOut = await plain.newPage();
    await signIn(signedOut);
    await signedOut.getByRole('link', { name: 'Orders', exact: true }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    await plain.close();
    const other = await browser.newPage();
    await other.goto(url('/sign-in'));
    expect(await violationsOn(other)).toEqual([]);
    await other.close();
  });
});

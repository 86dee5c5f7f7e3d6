/** Every page of the console in a real browser: both themes, on a phone, and without a script. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  browserPath,
  colorViolationsOn,
  openTab,
  startBrowser,
  violationsBesidesColorsOn,
  violationsOn,
} from '../support/browser.ts';
import { addConsoleExamples, addExamples, EXAMPLE_PAGES } from '../support/pageExamples.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';

const PHONE = { width: 360, height: 740 };
const SMALL_DESK = { width: 1100, height: 800 };
const DESK = { width: 1280, height: 800 };

/** What one visit of a page shows: loading each page once for every test took minutes. */
interface Seen {
  readonly path: string;
  readonly violations: readonly string[];
  readonly darkViolations: readonly string[];
  readonly hostile: unknown;
  readonly phoneWidth: unknown;
  readonly boxesApart: unknown;
  readonly narrowIds: unknown;
  readonly cut: unknown;
}

/** Where the name of the zone is long, as in GMT+5:30. */
const TIME_ZONE = 'Asia/Kolkata';

/** Runs in the browser: facts that are wider than their column, and tables of an order's journal that scroll. */
const FIND_CUT = `[...document.querySelectorAll('dd, .accounts .scroll')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`;

/** Runs in the browser on a phone: boxes that select a row and are not beside its first cell, or beyond the screen. */
const FIND_BOXES_APART = `[...document.querySelectorAll('tbody input[type="checkbox"]')]
  .filter((box) => !box.closest('td')?.previousElementSibling?.matches('th') ||
    box.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map((box) => box.closest('label').textContent)`;

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let seen: readonly Seen[];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const mistakes: string[] = [];
  /** Texts by their colors and what these depend on. */
  const examined = new Set<string>();
  const url = (path: string) => `http://127.0.0.1:${all.tallyhook.consolePort}${path}`;

  const signIn = async (signedOut: Page): Promise<void> => {
    await signedOut.goto(url('/'));
    await signedOut.getByLabel('Token').fill(ADMIN_TOKEN);
    await signedOut.getByRole('button', { name: 'Sign in' }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  };

  const visit = async (path: string): Promise<Seen> => {
    await page.goto(url(path));
    return { path, ...(await examinePage()) };
  };

  const examinePage = async (): Promise<Omit<Seen, 'path'>> => {
    const violations = [
      ...(await violationsBesidesColorsOn(page)),
      ...(await colorViolationsOn(page, examined)),
    ];
    const hostile = await page.evaluate('window.hostile');
    // A theme changes nothing but colors.
    await page.emulateMedia({ colorScheme: 'dark' });
    const darkViolations = await colorViolationsOn(page, examined);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(PHONE);
    const phoneWidth = await page.evaluate('document.documentElement.scrollWidth');
    const boxesApart = await page.evaluate(FIND_BOXES_APART);
    await page.setViewportSize(SMALL_DESK);
    const narrowIds = await page.evaluate(
      `[...document.querySelectorAll('tbody .id')].map((id) => id.textContent + ' ' + id.offsetWidth)
         .filter((text) => Number(text.split(' ').at(-1)) < 80)`,
    );
    await page.setViewportSize(DESK);
    const cut = await page.evaluate(FIND_CUT);
    return { violations, darkViolations, hostile, phoneWidth, boxesApart, narrowIds, cut };
  };

  beforeAll(async () => {
    all = await startSandboxConsole(['console']);
    await addExamples(all.db);
    const { pathOf } = await addConsoleExamples(all);
    const paths = EXAMPLE_PAGES.map(({ path }) => pathOf(path));
    browser = await startBrowser();
    context = await browser.newContext({ timezoneId: TIME_ZONE });
    page = await openTab(context);
    page.on('pageerror', (error) => mistakes.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      // The browser logs the page that does not exist; everything else is a mistake.
      const isExpected = /status of 404/.test(message.text()) && page.url() === url('/nothing');
      if (message.type() === 'error' && !isExpected) {
        mistakes.push(`${page.url()}: ${message.text()}`);
      }
    });
    await signIn(page);
    const visits: Seen[] = [];
    for (const path of [...paths, '/nothing']) visits.push(await visit(path));
    seen = visits;
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  test('no page violates WCAG 2.2 AA: light', () => {
    for (const { path, violations } of seen) expect.soft(violations, path).toEqual([]);
  });

  test('no page violates WCAG 2.2 AA: dark', () => {
    for (const { path, darkViolations } of seen) expect.soft(darkViolations, path).toEqual([]);
  });

  test.each([
    ['html-has-lang', `document.documentElement.removeAttribute('lang')`],
    ['document-title', `document.title = ''`],
    ['image-alt', `document.querySelector('main').append(new Image(9, 9))`],
    ['label', `document.querySelector('main').append(document.createElement('input'))`],
    ['button-name', `document.querySelector('main').append(document.createElement('button'))`],
    ['heading-order', `document.querySelector('h1').outerHTML += '<h5>Deep</h5>'`],
    ['landmark-one-main', `document.querySelector('main').outerHTML = '<div><p>Moved</p></div>'`],
    ['color-contrast', `document.querySelector('main p').style.color = 'rgb(127 127 127 / 0.3)'`],
  ])('a page that is spoiled is found to violate %s', async (rule, spoil) => {
    await page.goto(url('/orders/ord_plain'));
    await page.evaluate(spoil);
    const { violations, darkViolations } = await examinePage();
    expect([...violations, ...darkViolations].join('\n')).toContain(`${rule}: `);
  });

  test('nothing from outside runs on any page', () => {
    for (const { path, hostile } of seen) expect.soft(hostile, path).toBeUndefined();
    expect(mistakes).toEqual([]);
  });

  test('on a phone, too, the box that selects a row is beside what it selects', () => {
    for (const { path, boxesApart } of seen) expect.soft(boxesApart, path).toEqual([]);
  });

  test('no page is wider than a phone', () => {
    for (const { path, phoneWidth } of seen) {
      expect.soft(phoneWidth, path).toBeLessThanOrEqual(PHONE.width);
    }
  });

  test('on a phone the line of sections shows the one that is open', async () => {
    await page.setViewportSize(PHONE);
    for (const path of ['/orders', '/ledger', '/system/retention']) {
      await page.goto(url(path));
      const place = await page.locator('.sections [aria-current]').boundingBox();
      expect.soft(place?.x, path).toBeGreaterThanOrEqual(0);
      const end = (place?.x ?? 0) + (place?.width ?? 0);
      // Positions of scrolling are whole pixels.
      expect.soft(end, path).toBeLessThan(PHONE.width + 1);
      expect.soft(await page.evaluate('scrollY'), path).toBe(0);
    }
    await page.setViewportSize(DESK);
  });

  test('on a desk no fact runs into the next one, and no amount of an order is cut', () => {
    for (const { path, cut } of seen) expect.soft(cut, path).toEqual([]);
  });

  test('on a desk no alert is cut, and no id of a list takes a line for each character', async () => {
    for (const { path, narrowIds } of seen) expect.soft(narrowIds, path).toEqual([]);
    await page.setViewportSize(SMALL_DESK);
    await page.goto(url('/alerts'));
    const hidden = await page.evaluate(
      `[...document.querySelectorAll('.scroll')].map((list) => list.scrollWidth - list.clientWidth)`,
    );
    expect(hidden).toEqual([0]);
    await page.setViewportSize(DESK);
  });

  test('the sign-in violates nothing, and works without a script', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const signedOut = await openTab(plain);
    await signIn(signedOut);
    await signedOut.getByRole('link', { name: 'Orders', exact: true }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    await plain.close();
    const other = await openTab(browser);
    await other.goto(url('/sign-in'));
    expect(await violationsOn(other)).toEqual([]);
    await other.close();
  });
});

/** The installed Chromium, headless, and axe-core to examine pages in it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { noteSkipped } from './noteSkipped.ts';

/** The first is the same browser without windows, and takes half of the processor time of the others. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed Chromium; undefined if there is none. */
export const browserPath = NAMES.map((name) =>
  spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(),
).find((path) => path !== '');
if (browserPath === undefined) noteSkipped('Chromium', 'the tests of pages in a browser are');

/** @param args of Chromium, besides those that it needs here */
export function startBrowser(args: readonly string[] = []): Promise<Browser> {
  if (browserPath === undefined) throw new Error('no Chromium is installed');
  return chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', ...args],
  });
}

/** A busy machine takes longer to show a page than the half minute of Playwright. */
const PAGE_TIMEOUT_MS = 300_000;

/** A new page. Each wait of it ends only where a test would wait forever. */
export async function openTab(browser: Browser | BrowserContext): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  return page;
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules of these standards that depend on colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** What violates WCAG 2.2 AA on the page that is open, one line for each rule. */
export function violationsOn(page: Page): Promise<readonly string[]> {
  return examine(page, { runOnly: STANDARDS });
}

/** What violates the rules that do not depend on colors, on the page that is open. */
export function violationsBesidesColorsOn(page: Page): Promise<readonly string[]> {
  const rules = Object.fromEntries(COLOR_RULES.map((rule) => [rule, { enabled: false }]));
  return examine(page, { runOnly: STANDARDS, rules });
}

/**
 * Runs in the browser: keeps in `window.uncheckedTexts` the elements with text that differ from those that were
 * examined before, in anything that the rules about colors depend on.
 */
const FIND_UNCHECKED = `((examined) => {
  const known = new Set(examined);
  const found = new Set();
  const nameOf = (element) => element.tagName + '.' + element.className;
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(one);
      const layer = [backgroundColor, backgroundImage, opacity, filter].join(' ');
      if (layer !== 'rgba(0, 0, 0, 0) none 1 none') layers.push(layer);
    }
    return layers.join('/');
  };
  const isInText = (element) => {
    let block = element.parentElement;
    while (getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
    const links = [...block.querySelectorAll('a')].map(({ textContent }) => textContent).join('');
    return block.textContent.trim().length > links.trim().length;
  };
  const keyOf = (element) => {
    const { color, fontSize, fontWeight, fontStyle, textDecoration, textShadow, borderBottom } =
      getComputedStyle(element);
    const around = getComputedStyle(element.parentElement);
    const isDisabled = element.closest(':disabled, [aria-disabled="true"]') !== null;
    const own = [color, fontSize, fontWeight, fontStyle, textDecoration, textShadow, borderBottom];
    const parent = [around.color, around.fontWeight, nameOf(element.parentElement)];
    const link = element.tagName === 'A' ? isInText(element) : '';
    return JSON.stringify([nameOf(element), ...own, ...parent, behind(element), isDisabled, link]);
  };
  window.uncheckedTexts = [...document.body.querySelectorAll('*')].filter((element) => {
    const hasText =
      element.matches('input, select, textarea') ||
      [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
    // A text without room is seen by nobody, and examined by no rule.
    const { width, height } = element.getBoundingClientRect();
    const isSeen = element.checkVisibility() && width > 1 && height > 1;
    if (!hasText || !isSeen) return false;
    const key = keyOf(element);
    found.add(key);
    return !known.has(key);
  });
  return [...found];
})`;

/**
 * What violates the rules about colors on a page that is open.
 * @param examined of earlier pages, and grows: a text that has the colors, the size and the weight of one of
 *   them is not examined again, which took half of the time
 */
export async function colorViolationsOn(
  page: Page,
  examined: Set<string>,
): Promise<readonly string[]> {
  const find = `${FIND_UNCHECKED}(${JSON.stringify([...examined])})`;
  const found = (await page.evaluate(find)) as readonly string[];
  if (found.every((key) => examined.has(key))) return [];
  for (const key of found) examined.add(key);
  return examine(page, { runOnly: COLOR_RULES }, '{ include: window.uncheckedTexts }');
}

/**
 * @param choice of tags or ids of rules
 * @param context what is examined, as an expression
 */
async function examine(
  page: Page,
  choice: object,
  context = 'document',
): Promise<readonly string[]> {
  // Evaluated by the debugger, to which the page's Content-Security-Policy does not apply.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axeSource);
  // Only violations have to be described in full. axe reads all styles once more for one rule, which is about sound: a
  // quarter of the time.
  const options = JSON.stringify({ ...choice, resultTypes: ['violations'] });
  const preload = `preload: document.querySelector('audio, video') !== null`;
  const { violations } = (await page.evaluate(
    `axe.run(${context}, { ...${options}, ${preload} })`,
  )) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

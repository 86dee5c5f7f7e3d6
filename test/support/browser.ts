/** The installed Chromium, headless, and axe-core to examine pages in it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The first is the same browser without windows, and takes half of the processor time of the others. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed Chromium; undefined if there is none. */
export const browserPath = NAMES.map((name) =>
  spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(),
).find((path) => path !== '');

/** @param args of Chromium, besides those that it needs here */
export function startBrowser(args: readonly string[] = []): Promise<Browser> {
  if (browserPath === undefined) throw new Error('no Chromium is installed');
  return chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', ...args],
  });
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
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, to which the page's Content-Security-Policy does not apply.
  await page.evaluate(axeSource);
  return examine(page, STANDARDS);
}

/** What violates the rules about colors, on a page that `violationsOn` has examined in another theme. */
export function colorViolationsOn(page: Page): Promise<readonly string[]> {
  return examine(page, COLOR_RULES);
}

/** @param runOnly tags, or ids of rules */
async function examine(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  // Only violations have to be described in full.
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

/**
 * Pictures of pages for docs/console.md, taken while tests walk through them (`npm run pictures`).
 *
 * What differs in every run is replaced before a picture is taken, so that pictures differ only where pages
 * do: generated ids, and times, which are shown as if it were always the same night.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { toPalette } from './palettePng.ts';

/** Where pictures go; undefined: none are taken. */
export const picturesFolder = process.env.TALLYHOOK_PICTURES;

/** The time in every picture. */
const PICTURED_TIME = '2026-11-23T03:05:00Z';

/** Runs in the browser. Times are rounded to ten minutes: a run takes less. */
const STEADY = `{
  const shift = Date.parse('${PICTURED_TIME}') - Date.now();
  const step = 600_000;
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at) || time.textContent.length < 5) continue;
    if (/ago|^in |now/.test(time.textContent)) {
      if (Math.abs(at - Date.now()) < step) time.textContent = '1 minute ago';
      continue;
    }
    // Times of fixed examples are the same in every run.
    const isFixed = at < Date.now() - 2 * 86_400_000;
    const shown = new Date(Math.floor((isFixed ? at : at + shift) / step) * step);
    time.textContent = shown.toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short' });
  }
  const known = new Map();
  const steadyId = (id, prefix) => {
    if (!known.has(id)) known.set(id, prefix + String(known.size + 1).padStart(id.length - prefix.length, '0'));
    return known.get(id);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const steady = text.data
      .replace(/(?<![A-Za-z0-9])(?!again_)([a-z]+_)(?=\\w*[0-9A-Z])\\w{12,}/g, steadyId)
      .replace(/\\bfor \\d+ seconds?\\b/, 'for 45 minutes');
    if (steady !== text.data) text.data = steady;
  }
}`;

/** Keeps the pages of pictures from updating, which would bring back what was replaced. */
export async function holdStill(context: BrowserContext): Promise<void> {
  if (picturesFolder === undefined) return;
  await context.addInitScript('window.fetch = () => new Promise(() => undefined)');
}

/**
 * Takes a picture in both themes.
 * @param name of the file, without its theme
 * @param shown what the picture shows; undefined: the top of the page
 */
export async function takePicture(page: Page, name: string, shown?: Locator): Promise<void> {
  if (picturesFolder === undefined) return;
  mkdirSync(picturesFolder, { recursive: true });
  await shown?.scrollIntoViewIfNeeded();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(STEADY);
    const picture = toPalette(await page.screenshot({ animations: 'disabled' }));
    writeFileSync(join(picturesFolder, `${name}-${colorScheme}.png`), picture);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

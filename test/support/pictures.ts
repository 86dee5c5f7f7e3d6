/** Pictures of pages for docs/console.md, taken while tests walk through them (`npm run pictures`). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { toPalette } from './palettePng.ts';

/** Where pictures go; undefined: none are taken. */
export const picturesFolder = process.env.TALLYHOOK_PICTURES;

/** Takes a picture in both themes. @param name of the file, without its theme */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (picturesFolder === undefined) return;
  mkdirSync(picturesFolder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const picture = toPalette(await page.screenshot());
    writeFileSync(join(picturesFolder, `${name}-${colorScheme}.png`), picture);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

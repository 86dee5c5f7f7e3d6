/** docs/reference/settings.md and .env.example: generated from the schema and the texts of settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTING_GROUPS } from '../../../scripts/reference/settingTexts.ts';
import { writeExample, writeSettings } from '../../../scripts/writeSettings.ts';
import { SETTINGS } from '../../../src/config/config.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8');

test('every setting of the schema is described, once', () => {
  const explained = SETTING_GROUPS.flatMap(({ settings }) => Object.keys(settings));
  expect(explained.toSorted()).toEqual(Object.keys(SETTINGS.shape).toSorted());
});

test('the reference is current; `npm run generate` writes it', () => {
  expect(read('docs/reference/settings.md')).toBe(writeSettings());
});

test('.env.example is current; `npm run generate` writes it', () => {
  expect(read('.env.example')).toBe(writeExample());
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

test('unit tests that replace modules are in isolated files', () => {
  // The other files share modules that are already loaded; replacing one there does nothing.
  const replaces = /\bvi\s*\.\s*(mock|doMock|resetModules)\(/;
  const files = ['test/unit', 'test/client'].flatMap((folder) =>
    readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  );
  const replacing = files.filter((file) =>
    replaces.test(readFileSync(join(packageRoot(), file), 'utf8')),
  );
  expect(replacing.length).toBeGreaterThan(0);
  for (const file of replacing) expect(file).toMatch(/\.isolated\.test\.ts$/);
});

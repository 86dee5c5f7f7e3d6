/** docs/reference/admin-api.md: generated from the table of endpoints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeAdminApi } from '../../../scripts/writeAdminApi.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

test('the reference is current; `npm run generate` writes it', () => {
  const path = join(packageRoot(), 'docs/reference/admin-api.md');
  expect(readFileSync(path, 'utf8')).toBe(writeAdminApi());
});

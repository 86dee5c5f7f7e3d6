import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePermissions } from '../../../scripts/writePermissions.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

test('the reference of permissions is current; `npm run generate` writes it', () => {
  const written = readFileSync(join(packageRoot(), 'docs/reference/permissions.md'), 'utf8');
  expect(written).toBe(writePermissions());
});

/** src/adminApi/operations.ts: generated from the table of endpoints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeOperations } from '../../../scripts/adminApi/writeOperations.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

test('the client of the admin API is current; `npm run generate` writes it', () => {
  const written = readFileSync(join(packageRoot(), 'src/adminApi/operations.ts'), 'utf8');
  expect(written).toBe(writeOperations());
});

/** Every dependency's license is listed and allowed, without a request to a registry. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  readLockedPackages,
  withForbiddenLicense,
  writeLicenses,
} from '../../../scripts/writeLicenses.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

test('the reference of licenses is current; `npm run generate` writes it', () => {
  const written = readFileSync(join(packageRoot(), 'docs/reference/licenses.md'), 'utf8');
  expect(written).toBe(writeLicenses(readLockedPackages()));
});

test('every package of the lockfile has a license that is allowed for its use', () => {
  expect(readLockedPackages().length).toBeGreaterThan(100);
  expect(withForbiddenLicense(readLockedPackages())).toEqual([]);
});

test.each([
  ['GPL-3.0-only', false],
  ['none', true],
  ['MPL-2.0', false],
])('a package with the license %s is reported (tool: %s)', (license, isTool) => {
  const added = { name: 'added', version: '1.0.0', license, isTool };
  expect(withForbiddenLicense([added])).toEqual([added]);
});

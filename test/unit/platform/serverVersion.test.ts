/** The oldest PostgreSQL that Tallyhook runs on. docs/reference/matrix.md has what is tested. */
import { expect, test } from 'vitest';
import type { Queryable } from '../../../src/platform/db/database.ts';
import { readServerVersion, refuseOldServer } from '../../../src/platform/db/serverVersion.ts';

const serverOf = (number: number): Queryable => ({
  query: <Row extends object>() => Promise.resolve([{ number }] as unknown as Row[]),
});

test.each([
  [130_023, '13.23', false],
  [140_000, '14.0', true],
  [180_004, '18.4', true],
])('%d is PostgreSQL %s; supported: %s', async (number, text, isSupported) => {
  expect(await readServerVersion(serverOf(number))).toEqual({ text, isSupported });
});

test('a migration is refused on an older server, with what to do', async () => {
  await expect(refuseOldServer(serverOf(130_023))).rejects.toThrow(
    'The server is PostgreSQL 13.23, and Tallyhook needs 14 or newer: upgrade it, or use another server. Nothing was changed.',
  );
  await expect(refuseOldServer(serverOf(140_000))).resolves.toBeUndefined();
});

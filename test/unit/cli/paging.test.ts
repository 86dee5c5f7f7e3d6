import { expect, test } from 'vitest';
import { moreText, placeOf } from '../../../src/cli/paging.ts';
import { numberPlace } from '../../../src/representation/cursor.ts';

test.each([
  [['events', 'list'], 'events list --cursor NEXT'],
  [['events', 'list', '--cursor', 'OLD', '--json'], 'events list --json --cursor NEXT'],
  [['events', 'list', '--cursor=OLD', '--limit', '5'], 'events list --limit 5 --cursor NEXT'],
  [['audit', 'list', '--actor', "Ada's"], "audit list --actor 'Ada'\\''s' --cursor NEXT"],
  [['events', 'variants', '--', '-1'], 'events variants --cursor NEXT -- -1'],
])('after %j, the rest is printed by `%s`', (args, command) => {
  expect(moreText(args, 'NEXT')).toBe(
    `There are more. Continue with \`npx tallyhook ${command}\`.`,
  );
});

test('a cursor of another list is refused', () => {
  const cursor = Buffer.from('["a"]').toString('base64url');
  expect(() => placeOf(cursor, numberPlace)).toThrow(/not one of this list/);
  expect(placeOf(undefined, numberPlace)).toBeUndefined();
});

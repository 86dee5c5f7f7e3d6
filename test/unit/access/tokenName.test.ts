import { expect, test } from 'vitest';
import { nameMistake } from '../../../src/access/domain/tokenName.ts';

test.each(['a', 'shop', 'shop-2.read_only', 'a'.repeat(64)])('%s can name a token', (name) => {
  expect(nameMistake(name)).toBeUndefined();
});

test.each(['', 'Shop', '2shop', '-shop', 'shop 2', 'shop\n', 'a'.repeat(65)])(
  '%j cannot name a token, and the mistake states what can',
  (name) => {
    expect(nameMistake(name)).toMatch(/^Give lowercase letters, .*64 at most\.$/);
  },
);

test('the name of the holder of ADMIN_TOKEN is reserved', () => {
  expect(nameMistake('admin')).toBe('This is the name of ADMIN_TOKEN.');
});

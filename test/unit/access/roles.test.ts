/** The permissions of every role, written out: a change of one must be intended. */
import { expect, test } from 'vitest';
import {
  PERMISSIONS,
  type Permission,
  permits,
  ROLES,
  type Role,
  rolesWith,
} from '../../../src/access/domain/roles.ts';

const EXPECTED: Readonly<Record<Role, string>> = {
  metrics: 'read_metrics',
  viewer: 'read read_metrics',
  shop: 'read refresh register_orders',
  operator: 'operate read read_audit read_metrics refresh register_orders settle',
  treasurer: 'close_periods move_money read read_audit read_metrics refresh settle',
  admin:
    'administer close_periods erase manage_tokens move_money operate read read_audit read_metrics refresh register_orders settle',
};

const all = Object.keys(PERMISSIONS) as readonly Permission[];

test.each(ROLES)('the role %s has exactly its permissions', (role) => {
  const permitted = all.filter((permission) => permits(role, permission));
  expect(permitted.toSorted().join(' ')).toBe(EXPECTED[role]);
});

test('only admin manages tokens, and besides it one role moves money', () => {
  expect(rolesWith('manage_tokens')).toEqual(['admin']);
  expect(rolesWith('move_money')).toEqual(['treasurer', 'admin']);
});

test('everybody but a scraper reads orders', () => {
  expect(rolesWith('read')).toEqual(['viewer', 'shop', 'operator', 'treasurer', 'admin']);
});

test('a refusal states what each permission allows', () => {
  expect(Object.values<string>(PERMISSIONS)).not.toContain('');
});

/** The rules of src/access/domain/claims.ts, by their numbers. */
import { describe, expect, test } from 'vitest';
import { personName, roleOf, valuesOf } from '../../../src/access/domain/claims.ts';

describe('the values of a claim', () => {
  test.each([
    ['1: by its name', { groups: ['a', 'b'] }, 'groups', ['a', 'b']],
    ['1: by a path', { realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
    ['1: the whole name first', { 'a.b': ['whole'], a: { b: ['path'] } }, 'a.b', ['whole']],
    ['2: a text', { role: 'a b' }, 'role', ['a b']],
    ['2: only texts of a list', { groups: ['a', 1, null, ['b']] }, 'groups', ['a']],
    ['2: an empty list', { groups: [] }, 'groups', []],
    ['2: no value', { groups: { a: true } }, 'groups', undefined],
    ['absent', {}, 'groups', undefined],
    ['nothing behind a claim without a value', { a: null }, 'a.b', undefined],
    ['nothing that every object has', {}, 'constructor.name', undefined],
  ])('%s', (_rule, claims, name, values) => {
    expect(valuesOf(claims, name)).toEqual(values);
  });
});

test('the first mapping with a value that a person has gives the role', () => {
  const mappings = [
    { value: 'money', role: 'treasurer' },
    { value: 'oncall', role: 'operator' },
  ] as const;
  expect(roleOf(['oncall', 'money'], mappings)).toBe('treasurer');
  expect(roleOf(['oncall'], mappings)).toBe('operator');
  expect(roleOf(['Oncall'], mappings)).toBeUndefined();
  expect(roleOf([], mappings)).toBeUndefined();
});

test('3: a name contains the subject, and no control characters', () => {
  expect(personName({ email: 'ada@shop.example' }, 's1')).toBe('ada@shop.example (s1)');
  expect(personName({ name: 'Ada\n(admin)\u202e' }, 's1')).toBe('Ada(admin) (s1)');
  expect(personName({ email: ' ', preferred_username: 'ada' }, 's1')).toBe('ada (s1)');
  expect(personName({ name: ' Ada\n ', email: 'a@b.example' }, 's1')).toBe('a@b.example (s1)');
  expect(personName({ name: ' Ada\n ' }, 's1')).toBe('Ada (s1)');
  expect(personName({}, 's1')).toBe('(s1)');
  expect(personName({ name: 'x'.repeat(500) }, 's1')).toHaveLength(80 + ' (s1)'.length);
});

import { expect, test } from 'vitest';
import { expandRights, parseGrants, statementsOf } from '../../../src/platform/db/grants.ts';

test('grants are read as rights, one for each privilege, column and object', () => {
  const sql = `
    -- A comment; with a semicolon.
    grant select, insert on a, other.b to reader;
    grant update (x, y) on a to reader;
    grant usage on schema queue to reader;
    grant execute on function make(integer, date) to reader;`;
  expect(parseGrants(sql, 'reader')).toEqual([
    { privilege: 'select', object: 'public.a' },
    { privilege: 'select', object: 'other.b' },
    { privilege: 'insert', object: 'public.a' },
    { privilege: 'insert', object: 'other.b' },
    { privilege: 'update (x)', object: 'public.a' },
    { privilege: 'update (y)', object: 'public.a' },
    { privilege: 'usage', object: 'schema queue' },
    { privilege: 'execute', object: 'function public.make(integer, date)' },
  ]);
});

test.each([
  ['a grant to another role', 'grant select on a to writer'],
  ['a grant with an option', 'grant select on a to reader with grant option'],
  ['anything else', 'drop table a'],
])('%s is an error', (_, sql) => {
  expect(() => parseGrants(sql, 'reader')).toThrow(/the rights of reader have a statement/);
});

test('all tables or sequences of a schema are those that exist', () => {
  const declared = parseGrants(
    `grant select, delete on all tables in schema queue to reader;
     grant usage on all sequences in schema queue to reader`,
    'reader',
  );
  const objects = ['public.a', 'queue.job', 'queue.meta', 'sequence queue.ids', 'schema queue'];
  expect(expandRights(declared, objects)).toEqual([
    { privilege: 'select', object: 'queue.job' },
    { privilege: 'select', object: 'queue.meta' },
    { privilege: 'delete', object: 'queue.job' },
    { privilege: 'delete', object: 'queue.meta' },
    { privilege: 'usage', object: 'sequence queue.ids' },
  ]);
});

test('rights become one statement for each object', () => {
  const rights = [
    { privilege: 'select', object: 'public.a' },
    { privilege: 'usage', object: 'schema queue' },
    { privilege: 'update (x)', object: 'public.a' },
  ];
  expect(statementsOf('grant', rights, 'reader')).toEqual([
    'grant select, update (x) on public.a to reader',
    'grant usage on schema queue to reader',
  ]);
  expect(statementsOf('revoke', rights.slice(1, 2), 'reader')).toEqual([
    'revoke usage on schema queue from reader',
  ]);
});

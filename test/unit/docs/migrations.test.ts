/** Migrations expand before they contract: versions run side by side during an upgrade. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrationsFolder } from '../../../src/platform/db/pendingMigrations.ts';

/** Programs compare their migrations with the schema's requirement from this one on. */
const FIRST = 60;

/** What a version that still runs may use. Constraints are dropped to be relaxed. */
const REMOVES =
  /\bdrop\s+(table|column|view|function|schema|type)\b|\brename\s+(to|column)\b|\balter\s+column\s+\w+\s+(type|set\s+not\s+null)\b/i;
const RAISES = /\bupdate\s+schema_requirements\s+set\s+migration\b/i;

function isContracting(sql: string): boolean {
  return REMOVES.test(sql.replaceAll(/--.*$/gm, ''));
}

test.each([
  ['alter table t drop column a;', true],
  ['alter table t rename to u;', true],
  ['alter table t alter column a set not null;', true],
  ['drop function f();', true],
  ['-- drop table t\ncreate table u (a int);', false],
  ['alter table t add column a int; alter table t drop constraint c;', false],
])('%s is recognized', (sql, isOne) => {
  expect(isContracting(sql)).toBe(isOne);
});

test('a migration that removes something raises the requirement of the schema', () => {
  const folder = migrationsFolder();
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.sql') && Number.parseInt(name, 10) >= FIRST,
  );
  expect(files.length).toBeGreaterThan(0);
  const silent = files.filter((name) => {
    const sql = readFileSync(join(folder, name), 'utf8');
    return isContracting(sql) && !RAISES.test(sql);
  });
  expect(silent).toEqual([]);
});

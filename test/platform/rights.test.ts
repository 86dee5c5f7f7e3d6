/**
 * The role that runs Tallyhook, `tallyhook_app`, may run every statement of the code. A grant that a
 * migration forgets is found here, not when the first alert cannot be sent.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const SOURCES = join(packageRoot(), 'src');

/** What the statements of a file need, by the words in front of the table's name. */
const NEEDS = {
  SELECT: [/\b(?:from|join)\s+([a-z_]+)/g],
  INSERT: [/\binsert into\s+([a-z_]+)/g],
  UPDATE: [
    /\bupdate\s+([a-z_]+)(?:\s+[a-z]+)?\s+set\b/g,
    /\binsert into\s+([a-z_]+)[^`;]*?\bdo update\b/g,
  ],
  DELETE: [/\bdelete from\s+([a-z_]+)/g],
} as const;
type Right = keyof typeof NEEDS;
const RIGHTS = Object.keys(NEEDS) as readonly Right[];

/** Statements are in `store/` folders (architecture test); the sandbox's schema is its own. */
function storeFiles(): readonly string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.includes('/store/') && !path.startsWith('sandbox/'),
  );
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Tables and views, each with the rights that the role has on all or some of its columns. */
async function readRights(): Promise<ReadonlyMap<string, readonly Right[]>> {
  const rows = await db.query<{ name: string; rights: readonly Right[] }>(
    `select c.relname as name,
            array(select r from unnest($1::text[]) as r
                   where has_table_privilege('tallyhook_app', c.oid, r)
                      or (r <> 'DELETE' and has_any_column_privilege('tallyhook_app', c.oid, r))
            ) as rights
       from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v')`,
    [RIGHTS],
  );
  return new Map(rows.map(({ name, rights }) => [name, rights]));
}

describe('the role that runs Tallyhook', () => {
  test.each(RIGHTS)('has each right to %s that a statement of the code needs', async (right) => {
    const granted = await readRights();
    const needed = storeFiles().flatMap((path) => {
      const source = withoutComments(readFileSync(join(SOURCES, path), 'utf8'));
      return NEEDS[right]
        .flatMap((pattern) => [...source.matchAll(pattern)])
        .map(([, table = '']) => ({ path, table }))
        .filter(({ table }) => granted.has(table));
    });
    const missing = needed.filter(({ table }) => !granted.get(table)?.includes(right));
    expect(missing).toEqual([]);
    expect(new Set(needed.map(({ table }) => table)).size).toBeGreaterThanOrEqual(8);
  });
});

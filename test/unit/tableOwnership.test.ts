/**
 * Each table has one owner (docs/reference/tables.md); other modules read it through the owner's store.
 * A statement that names a table of another owner breaks without notice when the owner changes it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

const root = packageRoot();
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));

const PAGE = 'docs/reference/tables.md';
const [ownersPart = '', acrossPart = ''] = read(PAGE).split('\n## ');
const rowsOf = (part: string) =>
  [...part.matchAll(/^\|(.+)\|$/gm)]
    .slice(2)
    .map(([, row = '']) => row.split('|').map((cell) => cell.trim()));

interface Table {
  readonly name: string;
  readonly owner: string;
  readonly writers: readonly string[];
}

const tables: readonly Table[] = rowsOf(ownersPart).flatMap(([names = '', owner = '', by = '']) =>
  [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({
    name,
    owner,
    writers: by.split(', ').filter((writer) => !['none', 'migrations'].includes(writer)),
  })),
);

/** Pairs of a module and a table of another owner that its statements may name. */
const across = new Set(
  rowsOf(acrossPart).map(([module = '', table = '']) => `${module} names ${table.slice(1, -1)}`),
);

interface Use {
  readonly path: string;
  readonly module: string;
  readonly table: string;
  readonly isWrite: boolean;
}

/** The tables that a statement reads or writes, without the names of its own subqueries. */
function usesIn(statement: string): readonly Pick<Use, 'table' | 'isWrite'>[] {
  const sql = statement.replaceAll(/--.*$/gm, '');
  const subqueries = new Set(
    [...sql.matchAll(/\b(\w+)\s*(?:\([\w\s,]*\)\s*)?as\s+(?:(?:not\s+)?materialized\s*)?\(/g)].map(
      ([, name]) => name,
    ),
  );
  const named = sql.matchAll(
    /\b(from|join|into|update|using|delete\s+from|lock\s+table|truncate)\s+(?:only\s+)?(\w+)/g,
  );
  return [...named].flatMap(([, verb = '', table = '']) =>
    subqueries.has(table) ? [] : [{ table, isWrite: /^(into|update|delete|truncate)/.test(verb) }],
  );
}

function usesOf(path: string): readonly Use[] {
  const text = read(path).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statements = text.match(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g) ?? [];
  const module = path.split('/')[1] ?? '';
  return statements
    .flatMap(usesIn)
    .filter(({ table }) => tables.some(({ name }) => name === table))
    .map((use) => ({ ...use, path, module }));
}

const uses = filesIn('src', '.ts')
  .filter((path) => /\/store\/|^src\/platform\/db\//.test(path))
  .filter((path) => !path.startsWith('src/sandbox/'))
  .flatMap(usesOf);

test('the scan finds reads and writes, and no subqueries', () => {
  expect(
    usesIn(`with gone as (delete from pending where id = $1 returning id), orders as (select 1)
            insert into dead_events select id from gone join webhook_events e using (id), orders`),
  ).toEqual([
    { table: 'pending', isWrite: true },
    { table: 'dead_events', isWrite: true },
    { table: 'webhook_events', isWrite: false },
  ]);
  expect(uses.length).toBeGreaterThan(100);
});

test('every table of the migrations has an owner', () => {
  const existing = new Set<string>();
  for (const path of filesIn('migrations', '.sql').toSorted()) {
    if (path.startsWith('migrations/sandbox/')) continue;
    const sql = read(path).replaceAll(/--.*$/gm, '');
    for (const [, verb, name = '', renamed] of sql.matchAll(
      /\b(create table|create(?: or replace)? view|drop table|drop view|alter table) (\w+)(?: rename to (\w+))?/g,
    )) {
      if (verb?.startsWith('drop') || renamed) existing.delete(name);
      if (verb?.startsWith('create')) existing.add(name);
      if (renamed) existing.add(renamed);
    }
  }
  expect(
    tables.map(({ name }) => name).toSorted(),
    `${PAGE} has a row for each table, and for no other`,
  ).toEqual([...existing].toSorted());
});

test('a module names its own tables, and those of others only where the page gives a reason', () => {
  const foreign = uses.filter(({ module, table }) => module !== ownerOf(table));
  const violations = foreign
    .filter(({ module, table }) => !across.has(`${module} names ${table}`))
    .map(
      ({ path, table }) =>
        `${path} names ${table}, which ${ownerOf(table)} owns: move the statement to src/${ownerOf(table)} and call it`,
    );
  expect([...new Set(violations)]).toEqual([]);

  const needed = new Set(foreign.map(({ module, table }) => `${module} names ${table}`));
  expect(
    [...across].filter((pair) => !needed.has(pair)),
    `${PAGE}: no longer needed`,
  ).toEqual([]);
});

test('the page lists who writes each table', () => {
  for (const { name, writers } of tables) {
    const writing = uses.filter(({ table, isWrite }) => table === name && isWrite);
    expect([...new Set(writing.map(({ module }) => module))].toSorted(), name).toEqual(
      writers.toSorted(),
    );
  }
});

function ownerOf(table: string): string | undefined {
  return tables.find(({ name }) => name === table)?.owner;
}

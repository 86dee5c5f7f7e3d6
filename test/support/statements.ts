/**
 * The rights on tables that code needs, read from its source: which declarations a function reaches,
 * and what their SQL statements do.
 *
 * Reach is by name: a declaration reaches every declaration of its file, and every import, that its
 * text names. Types are not followed. That can find too much, never too little, as long as statements
 * are constants and functions of the module's top level, which rules A7 and 4 make them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packageRoot } from '../../src/platform/packageRoot.ts';

const root = packageRoot();

/** A declaration; `*` is all of a file. */
interface Target {
  readonly path: string;
  readonly name: string;
}

interface Source {
  /** Text of each top-level declaration, by its name. */
  readonly declarations: ReadonlyMap<string, string>;
  /** What is imported or passed on from our files, by the name that it has here. */
  readonly imports: ReadonlyMap<string, Target>;
}

const known = new Map<string, Source>();

function sourceOf(path: string): Source {
  const found = known.get(path);
  if (found) return found;
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  const code = text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const source = { declarations: declarationsIn(code), imports: importsIn(code, path) };
  known.set(path, source);
  return source;
}

const DECLARATION =
  /^(?:export )?(?:default )?(?:async )?(?:function\*?|const|let|class|enum)\s+([\w$]+)/;
const START = /^(?:export |async |function|const |let |class |enum |interface |type |await )/;

function declarationsIn(code: string): ReadonlyMap<string, string> {
  const declarations = new Map<string, string>();
  let name: string | undefined;
  for (const line of code.split('\n')) {
    if (START.test(line)) name = DECLARATION.exec(line)?.[1];
    if (name !== undefined) declarations.set(name, `${declarations.get(name) ?? ''}${line}\n`);
  }
  return declarations;
}

function resolve(path: string, specifier: string): string {
  return normalize(join(dirname(path), specifier));
}

function importsIn(code: string, path: string): ReadonlyMap<string, Target> {
  const named = code.matchAll(/^(?:import|export) \{([^}]*)\} from '(\.[^']+)'/gm);
  return new Map(
    [...named].flatMap(([, names = '', specifier = '']) =>
      names
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '' && !part.startsWith('type '))
        .map((part): [string, Target] => {
          const [name = '', local = name] = part.split(' as ');
          return [local, { path: resolve(path, specifier), name }];
        }),
    ),
  );
}

export interface Reached extends Target {
  readonly text: string;
}

/** Everything that declarations reach, themselves included. */
export function reach(entries: readonly Target[]): readonly Reached[] {
  const reached = new Map<string, Reached>();
  const queue = [...entries];
  for (const { path, name } of queue) {
    const { declarations, imports } = sourceOf(path);
    const text = declarations.get(name);
    const passedOn = imports.get(name);
    if (name === '*') queue.push(...[...declarations.keys()].map((own) => ({ path, name: own })));
    else if (text === undefined) queue.push(...(passedOn ? [passedOn] : []));
    else if (!reached.has(`${path}#${name}`)) {
      reached.set(`${path}#${name}`, { path, name, text });
      queue.push(...namedIn(text, path));
    }
  }
  return [...reached.values()];
}

/** What a declaration names: imports, its own file's declarations, and modules that it loads. */
function namedIn(text: string, path: string): readonly Target[] {
  const { declarations, imports } = sourceOf(path);
  const words = new Set(text.match(/[\w$]+/g));
  const loaded = [...text.matchAll(/import\('(\.[^']+)'\)/g)].flatMap(([, specifier = '']) => {
    const module = resolve(path, specifier);
    return [...sourceOf(module).declarations.keys()]
      .filter((name) => words.has(name))
      .map((name) => ({ path: module, name }));
  });
  const named = [...words].flatMap((word) => {
    const imported = imports.get(word);
    if (imported) return [imported];
    return declarations.has(word) ? [{ path, name: word }] : [];
  });
  return [...named, ...loaded];
}

/** All declarations of the files of a folder. */
export function allOf(folder: string, except: readonly string[] = []): readonly Target[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.ts') && !except.includes(file))
    .map((file) => ({ path: join(folder, file), name: '*' }));
}

export type Right = 'select' | 'insert' | 'update' | 'delete' | 'execute';

export interface Need {
  readonly right: Right;
  readonly table: string;
}

/** The functions that SQL calls with `select` alone, which is how statements call those that change something. */
function callsIn(sql: string): readonly string[] {
  return [...sql.matchAll(/\bselect\s+([a-z_]+)\(/g)].map(([, name = '']) => name);
}

/** The rights that SQL needs. Names that are no tables, such as those of subqueries, are included. */
export function needsOf(sql: string): readonly Need[] {
  const tables = (pattern: RegExp) => [...sql.matchAll(pattern)].map(([, table = '']) => table);
  const need = (right: Right, names: readonly string[]) => names.map((table) => ({ right, table }));
  const updated = tables(/\bupdate\s+([a-z_]+)(?:\s+(?:as\s+)?[a-z]+)?\s+set\b/g);
  const deleted = tables(/\bdelete from\s+([a-z_]+)/g);
  const inserts = [...sql.matchAll(/\binsert into\s+([a-z_]+)((?:(?!\binsert into\b)[\s\S])*)/g)];
  const insertsWith = (pattern: RegExp) =>
    inserts.filter(([, , rest = '']) => pattern.test(rest)).map(([, table = '']) => table);
  return [
    // A statement that finds its rows, or returns them, reads them.
    ...need('select', tables(/\b(?:from|join|using)\s+([a-z_]+)/g)),
    ...need('select', tables(/\bfrom\s[^()]*?,\s*([a-z_]+)/g)),
    ...need('select', [...updated, ...deleted]),
    ...need('select', insertsWith(/^[^;]*?(?:\bon conflict\s*\(|\breturning\b)/)),
    ...need(
      'insert',
      inserts.map(([, table = '']) => table),
    ),
    ...need('update', [...updated, ...insertsWith(/\bdo update\b/), ...lockedIn(sql)]),
    ...need('delete', deleted),
    ...need('execute', callsIn(sql)),
  ];
}

/** Tables with rows that `for update` or a weaker lock locks, which needs the right to update. */
function lockedIn(sql: string): readonly string[] {
  return [...sql.matchAll(/\bfor (?:no key )?(?:update|share)(?: of ([a-z]+))?/g)].flatMap(
    (lock) => {
      const before = sql.slice(0, lock.index);
      const query = before.slice(before.lastIndexOf('select'));
      const from = [
        ...query.matchAll(
          /\b(?:from|join)\s+([a-z_]+)(?:\s+(?:as\s+)?(?!join|left|cross|where|on|using|order|limit|for)([a-z]+))?/g,
        ),
      ];
      const [, alias] = lock;
      return from
        .filter(([, table, name]) => alias === undefined || alias === name || alias === table)
        .map(([, table = '']) => table);
    },
  );
}

/** Statements are in these folders (architecture test, A7); the sandbox has a schema of its own. */
const WITH_SQL = /\/store\/|^src\/platform\/db\//;

/** The rights that reached declarations need, each once, with where the need comes from. */
export function needsOfReached(reached: readonly Reached[]): ReadonlyMap<string, Need & Target> {
  const needs = new Map<string, Need & Target>();
  for (const { path, name, text } of reached) {
    if (!WITH_SQL.test(path) || path.startsWith('src/sandbox/')) continue;
    for (const [literal] of text.matchAll(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g)) {
      const sql = literal.replaceAll(/--.*$/gm, '');
      const subqueries = new Set(
        [
          ...sql.matchAll(/\b(\w+)\s*(?:\([\w\s,]*\)\s*)?as\s+(?:(?:not\s+)?materialized\s*)?\(/g),
        ].map(([, subquery]) => subquery),
      );
      for (const need of needsOf(sql)) {
        if (subqueries.has(need.table)) continue;
        needs.set(`${need.right} on ${need.table}`, { ...need, path, name });
      }
    }
  }
  return needs;
}

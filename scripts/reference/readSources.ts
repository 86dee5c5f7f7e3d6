/**
 * Reads the public declarations of `@tallyhook/client` with their docstrings from the sources, not from
 * the build, so that a check of the document needs no build.
 *
 * It supports only the forms that the formatter produces: a declaration begins in the first column,
 * a member two columns further in, and its docstring is right above it.
 *
 * 1. A declaration of another form is an error, never omitted.
 * 2. A type that is derived from a schema has the schema's docstring, unless it has one of its own.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A field or method of an interface or class. */
export interface Member {
  readonly name: string;
  /** The source, on one line. */
  readonly type: string;
  readonly optional: boolean;
  /** Empty where there is none. */
  readonly docstring: string;
}

/** One exported name. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'interface' | 'class' | 'type' | 'function' | 'const';
  /** The source, without the body of a function or class. */
  readonly text: string;
  /** Empty where there is none. */
  readonly docstring: string;
  /** Of interfaces and classes, without constructor parameters. */
  readonly members: readonly Member[];
  /** The interface that it extends. */
  readonly base: string | undefined;
  /** The schema that a type is derived from. */
  readonly schema: string | undefined;
  /** The docstring of the file. */
  readonly fileDocstring: string;
}

/**
 * Everything that the module at `path` exports, by name.
 * @throws Error when a line is of no form that is known here
 */
export function readExports(path: string): ReadonlyMap<string, Declaration> {
  const text = readFileSync(path, 'utf8');
  const clauses = [...text.matchAll(REEXPORT)];
  const rest = text.replaceAll(REEXPORT, '').replaceAll(/\/\*\*.*?\*\//gs, '');
  if (rest.trim() !== '') throw new Error(`${path}: not only re-exports: ${rest.trim()}`);
  const named = clauses.flatMap(([, list = '', from = '']) =>
    namesIn(list).map((name) => [name, join(dirname(path), from)] as const),
  );
  return new Map(named.map(([name, from]) => [name, find(name, from)]));
}

const REEXPORT = /^export (?:type )?\{([^}]*)\} from '([^']+)';$/gm;

function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');
}

/** Finds the declaration of a name, through files that only re-export it. */
function find(name: string, path: string): Declaration {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((line) => DECLARED.exec(line)?.[2] === name);
  if (at !== -1) return readDeclaration(path, lines, at);
  for (const [, list = '', from = ''] of text.matchAll(REEXPORT)) {
    if (namesIn(list).includes(name)) return find(name, join(dirname(path), from));
  }
  for (const [, from = ''] of text.matchAll(/^export \* from '([^']+)';$/gm)) {
    const next = join(dirname(path), from);
    if (new RegExp(`^export \\w+ ${name}\\b`, 'm').test(readFileSync(next, 'utf8'))) {
      return find(name, next);
    }
  }
  throw new Error(`${path}: ${name} is exported, and its declaration was not found`);
}

const DECLARED = /^export (interface|class|type|function|const) (\w+)/;

function readDeclaration(path: string, lines: readonly string[], at: number): Declaration {
  const first = lines[at] ?? '';
  const [, kind, name = ''] = DECLARED.exec(first) ?? [];
  const block = blockFrom(path, lines, at);
  const text = withoutBody(block.join('\n'), kind as Declaration['kind']);
  const schema = /= z\.(?:input|infer)<typeof (\w+)>;$/.exec(text)?.[1];
  const schemaAt = lines.findIndex((line) => line.startsWith(`export const ${schema} =`));
  return {
    name,
    kind: kind as Declaration['kind'],
    text,
    docstring: docstringAbove(lines, at) || (schema ? docstringAbove(lines, schemaAt) : ''),
    members: kind === 'interface' || kind === 'class' ? readMembers(path, block) : [],
    base: /^export interface .* extends (\w+) \{/.exec(first)?.[1],
    schema,
    fileDocstring: docstringAbove(lines, lines.findIndex((line) => line.endsWith('*/')) + 1),
  };
}

/** The lines of the declaration at `at`, up to its closing bracket. */
function blockFrom(path: string, lines: readonly string[], at: number): readonly string[] {
  let depth = 0;
  for (let index = at; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (!/^\s*(\/\*\*|\*|\/\/)/.test(line)) depth += depthOf(line);
    if (depth === 0 && /;$|^\}$/.test(line)) return lines.slice(at, index + 1);
  }
  throw new Error(`${path}:${at + 1}: the end of ${lines[at]} was not found`);
}

function depthOf(text: string): number {
  return text.replaceAll(/[^([{]/g, '').length - text.replaceAll(/[^)\]}]/g, '').length;
}

function withoutBody(text: string, kind: Declaration['kind']): string {
  if (kind === 'function') return oneLine(text.slice(0, text.search(/ \{$/m)));
  if (kind === 'class') return text.slice(0, text.indexOf(' {\n'));
  return text;
}

/** Joins lines that the formatter wrapped. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(/,? \)/g, ')');
}

/** The docstring that ends right above a line. */
function docstringAbove(lines: readonly string[], at: number): string {
  if (at < 1 || !(lines[at - 1] ?? '').endsWith('*/')) return '';
  let start = at - 1;
  while (!(lines[start] ?? '').trimStart().startsWith('/**')) start -= 1;
  return lines
    .slice(start, at)
    .map((line) =>
      line
        .trim()
        .replace(/^\/?\*+\/? ?/, '')
        .replace(/ ?\*\/$/, ''),
    )
    .join('\n')
    .trim();
}

/** The type of an optional member. That it may be undefined, as for `exactOptionalPropertyTypes`, is no news. */
function withoutUndefined(type: string): string {
  const [, signature] = /^\((.*=>.*)\) \| undefined$/.exec(type) ?? [];
  return signature ?? (type.includes('=>') ? type : type.replace(/ \| undefined$/, ''));
}

const MEMBER = /^ {2}(?:override )?(?:readonly )?(\w+)(\?)?(?::| =) /;

function readMembers(path: string, block: readonly string[]): readonly Member[] {
  const members: Member[] = [];
  for (let at = 1; at < block.length - 1; at += 1) {
    const line = block[at] ?? '';
    if (line.startsWith('  constructor(')) break;
    if (line === '' || /^ {2}( \*|\/\*\*)/.test(line)) continue;
    const [head, name = '', mark] = MEMBER.exec(line) ?? [];
    if (head === undefined) throw new Error(`${path}: not read as a member: ${line}`);
    const lines = blockFrom(path, block, at);
    const type = oneLine(lines.join('\n')).trim().slice(head.trimStart().length, -1);
    members.push({
      name,
      type: mark === undefined ? type : withoutUndefined(type),
      optional: mark !== undefined,
      docstring: docstringAbove(block, at),
    });
    at += lines.length - 1;
  }
  return members;
}

/**
 * The code blocks of the manual, and how each is checked (docs/decisions/0132-blocks-are-executed.md).
 *
 * 1. A block is fenced, has a language, and is checked in the way of its language.
 * 2. Attributes after the language choose another way; an unknown attribute is an error.
 * 3. An HTML comment that begins with `sh` or `ts` is a block that readers do not see: it prepares those after it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/packageRoot.ts';

/** How a block is checked. Each language has its own ways, the first by default. */
export type Way =
  /**
   * Executed in the session of its page; `exit=6` expects another exit code, `until=Ready` interrupts a program
   * that follows something, `reply=yes` replies to a prompt, and `with="12=$alert"` replaces the example by what
   * is there. */
  | 'run'
  /** Output of the block before it, compared by shape. */
  | 'output'
  /** Executed on a migrated database, as its owner or as the role that `as=` names. */
  | 'query'
  /** Compiled with the blocks before it on the page, against the types of the packages. */
  | 'compile'
  /** Settings that exist, with values that are valid. */
  | 'settings'
  /** Read by a parser of the format. */
  | 'parse'
  /** Part of an example or a file of the repository: `of=` names it. */
  | 'part'
  /** Executed by a test of its own, or by a script before a release, which names the page: `by=`. */
  | 'by'
  /** A figure or a text that no program reads. */
  | 'figure'
  /** Cannot run here, for the reason stated: `cannot=`. Its syntax and our commands in it are checked. */
  | 'cannot';

const DEFAULT_WAYS: Readonly<Record<string, Way>> = {
  sh: 'run',
  sql: 'query',
  ts: 'compile',
  env: 'settings',
  json: 'parse',
  yaml: 'parse',
  ini: 'parse',
  nginx: 'parse',
};

/** The attributes of a block, and the way that each chooses; an attribute without one is of the way `run`. */
const ATTRIBUTES: Readonly<Record<string, Way | undefined>> = {
  output: 'output',
  of: 'part',
  by: 'by',
  figure: 'figure',
  cannot: 'cannot',
  until: undefined,
  reply: undefined,
  as: undefined,
  exit: undefined,
  with: undefined,
};

export interface Block {
  readonly page: string;
  /** The line of the fence. */
  readonly line: number;
  readonly language: string;
  readonly way: Way;
  readonly attributes: Readonly<Record<string, string>>;
  readonly code: string;
  readonly isHidden: boolean;
}

export const where = ({ page, line }: Pick<Block, 'page' | 'line'>): string => `${page}:${line}`;

const root = packageRoot();

/** Pages of the manual that people write. */
export const MANUAL: readonly string[] = ['README.md', 'SECURITY.md', ...pagesIn('docs')].filter(
  (page) => !page.startsWith('docs/decisions/') && !isGenerated(page),
);

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    .map((path) => join(folder, path))
    .sort();
}

function isGenerated(page: string): boolean {
  return /(?:generated|[Ww]ritten) by `npm run generate`/.test(readPage(page));
}

function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

export const manualBlocks = (): readonly Block[] => MANUAL.flatMap((page) => readBlocks(page));

interface Opening {
  readonly line: number;
  readonly indent: number;
  readonly info: string;
  /** What ends it. */
  readonly end: RegExp;
  readonly isHidden: boolean;
}

/** @throws Error for a block without a way to check it */
export function readBlocks(page: string, text: string = readPage(page)): readonly Block[] {
  const blocks: Block[] = [];
  let opening: Opening | undefined;
  let code: string[] = [];
  let previous = '';
  let inList = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (opening !== undefined) {
      if (opening.end.test(line)) {
        blocks.push(toBlock(page, opening, code.join('\n')));
        [opening, code] = [undefined, []];
      } else code.push(line.slice(Math.min(opening.indent, line.search(/\S|$/))));
    } else {
      opening = openingOf(line, index + 1);
      inList = /^(?:[-*]|\d+\.) /.test(line) || (inList && /^(?: |$)/.test(line));
      if (/^ {4,}\S/.test(line) && previous === '' && !inList && opening === undefined) {
        throw new Error(`${page}:${index + 1} is an indented block: fence it, with its language`);
      }
    }
    previous = line;
  }
  if (opening !== undefined) throw new Error(`${page}:${opening.line} does not end`);
  return blocks;
}

function openingOf(line: string, number: number): Opening | undefined {
  const [, fenceIndent, info] = /^( *)```(.*)$/.exec(line) ?? [];
  if (fenceIndent !== undefined) {
    const end = /^ *```$/;
    return { line: number, indent: fenceIndent.length, info: info ?? '', end, isHidden: false };
  }
  const [, indent, language] = /^( *)<!-- (sh|ts)$/.exec(line) ?? [];
  if (indent === undefined) return undefined;
  return {
    line: number,
    indent: indent.length,
    info: language ?? '',
    end: /^ *-->$/,
    isHidden: true,
  };
}

function toBlock(page: string, { line, info, isHidden }: Opening, code: string): Block {
  const [, language = '', rest = ''] = /^(\w*)(.*)$/.exec(info) ?? [];
  const attributes = readAttributes(rest, `${page}:${line}`);
  const ways = Object.keys(attributes).flatMap((name) => ATTRIBUTES[name] ?? []);
  const way = ways[0] ?? DEFAULT_WAYS[language];
  if (way === undefined || ways.length > 1) {
    throw new Error(
      `${page}:${line}: state one way to check this block, after its language (${Object.keys(DEFAULT_WAYS).join(', ')}, ` +
        `or another with ${Object.keys(ATTRIBUTES).join(', ')})`,
    );
  }
  return { page, line, language, way, attributes, code, isHidden };
}

function readAttributes(text: string, place: string): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {};
  const rest = text.replaceAll(
    / ([a-z]+)(?:=(?:"([^"]*)"|(\S+)))?/g,
    (_all, name: string, quoted?: string, plain?: string) => {
      if (!(name in ATTRIBUTES)) throw new Error(`${place}: ${name} is no attribute of a block`);
      attributes[name] = quoted ?? plain ?? '';
      return '';
    },
  );
  if (rest.trim() !== '') throw new Error(`${place}: ${rest.trim()} cannot be read`);
  return attributes;
}

/** `with="12=$alert"` has the reader's example replaced by what is there; a comma separates several. */
export function withExamples({ code, attributes }: Block): string {
  let own = code;
  for (const pair of attributes.with?.split(',') ?? []) {
    const [example = '', value = ''] = pair.split('=');
    if (!own.includes(example)) throw new Error(`${example} is not in:\n${code}`);
    const word = /^\w+$/.test(example) ? new RegExp(`\\b${example}\\b`, 'g') : example;
    own = own.replaceAll(word, () => value);
  }
  return own;
}

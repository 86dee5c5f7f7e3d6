/**
 * The walks of docs/walkthrough.md follow the code, and never go back.
 *
 * A step is called by a step above it that has not returned: by the step before, or by one that called
 * that. So its file is imported there, or composed: passed by src/assembly, or by the barrels and
 * factories that it imports, to the file of the step before. The other files that a sentence links are
 * used by the step or by its callers in the same way. An import of types calls nothing, so it does not
 * count.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const PAGE = 'docs/walkthrough.md';

interface Step {
  readonly number: number;
  /** From the root of the project. */
  readonly path: string;
  /** Without links. */
  readonly text: string;
  /** The files that the sentence links. */
  readonly used: readonly string[];
  /** Files with a label that differs from their path. */
  readonly mislabeled: readonly string[];
}

interface Walk {
  readonly title: string;
  /** Numbered lines of any form. */
  readonly lines: readonly string[];
  readonly steps: readonly Step[];
}

/** A page: more steps are more than a reader follows at once. */
const MAX_STEPS = 30;

const STEP = /^(\d+)\. \[`([^`]+)`\]\(\.\.\/([^)]+)\) (.+)$/;
const LINK = /\[`([^`]+)`\]\(\.\.\/([^)]+)\)/g;

function readStep(line: string): readonly Step[] {
  const [, number, label = '', path = '', sentence = ''] = STEP.exec(line) ?? [];
  if (number === undefined) return [];
  const links = [...sentence.matchAll(LINK)].map(([, name = '', file = '']) => ({ name, file }));
  return [
    {
      number: Number(number),
      path,
      text: sentence.replaceAll(LINK, 'it'),
      used: links.map(({ file }) => file),
      mislabeled: [{ name: label, file: path }, ...links].flatMap(({ name, file }) =>
        file === `src/${name}` ? [] : [name],
      ),
    },
  ];
}

const walks: readonly Walk[] = readFileSync(join(root, PAGE), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = '', ...rest] = section.split('\n');
    const lines = rest.filter((line) => /^\d+\./.test(line));
    return { title, lines, steps: lines.flatMap(readStep) };
  })
  .filter(({ lines }) => lines.length > 0);

/** Our files that a file imports or exports from, other than for types alone. */
function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from '(\.[^']+)'/gm)].map(
    ([, specifier = '']) => normalize(join(dirname(path), specifier)),
  );
}

const COMPOSES = /\/(?:index|createClient)\.ts$/;

/** Everything that src/assembly imports, directly or through a barrel or factory. */
function composed(): ReadonlySet<string> {
  const assembly = readdirSync(join(root, 'src/assembly')).map((file) => `src/assembly/${file}`);
  const known = new Set<string>();
  const open = [...assembly];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const imported of importsOf(path)) {
      if (known.has(imported)) continue;
      known.add(imported);
      if (COMPOSES.test(imported)) open.push(imported);
    }
  }
  return known;
}

const COMPOSED = composed();

/** Steps that no open step above calls, and links to files that neither the step nor its callers use. */
function wrongTurns(steps: readonly Step[]): readonly string[] {
  const wrong: string[] = [];
  let open: readonly { readonly path: string; readonly imports: readonly string[] }[] = [];
  for (const { number, path, used } of steps) {
    const callers = open.filter(({ imports }) => imports.includes(path));
    const caller = callers.at(-1);
    if (caller) open = open.slice(0, open.indexOf(caller) + 1);
    else if (!COMPOSED.has(path)) wrong.push(`${number}. ${path}`);
    open = [...open, { path, imports: existsSync(join(root, path)) ? importsOf(path) : [] }];
    for (const file of used) {
      const isUsed = COMPOSED.has(file) || open.some(({ imports }) => imports.includes(file));
      if (!isUsed) wrong.push(`${number}. ${path} with ${file}`);
    }
  }
  return wrong;
}

test('the page has a walk of a webhook and one of a reconcile run', () => {
  expect(walks.map(({ title }) => title)).toEqual(['One webhook', 'One reconcile run']);
  expect(walks.map(({ steps }) => steps.at(0)?.path)).toEqual([
    'src/receiver/app.ts',
    'src/scheduler/scheduler.ts',
  ]);
});

describe.each(walks)('$title', ({ lines, steps }) => {
  test(`has at most ${MAX_STEPS} numbered steps, each a link to a file and one sentence`, () => {
    expect(steps.length).toBe(lines.length);
    expect(steps.length).toBeLessThanOrEqual(MAX_STEPS);
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, place) => place + 1));
    expect(steps.flatMap(({ mislabeled }) => mislabeled)).toEqual([]);
    expect(steps.filter(({ text }) => !/^[^.]*(?:\.\w[^.]*)*\.$/.test(text))).toEqual([]);
  });

  test('names files that exist, each once', () => {
    const paths = steps.flatMap(({ path, used }) => [path, ...used]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(paths.filter((path, place) => paths.indexOf(path) !== place)).toEqual([]);
  });

  test('never goes back to a file that has returned', () => {
    expect(wrongTurns(steps)).toEqual([]);
  });
});

/**
 * The walks of docs/walkthrough.md follow the code.
 *
 * A step is reachable if a file named before it imports it, or a file that composes the program does:
 * src/assembly, and the barrels and factories that it imports. An import of types calls nothing, so it
 * does not count.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const PAGE = 'docs/walkthrough.md';

interface Step {
  readonly number: number;
  readonly label: string;
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

interface Walk {
  readonly title: string;
  /** Numbered lines of any form. */
  readonly lines: readonly string[];
  readonly steps: readonly Step[];
}

const STEP = /^(\d+)\. \[`([^`]+)`\]\(\.\.\/([^)]+)\) (.+)$/;

function readStep(line: string): readonly Step[] {
  const [, number, label = '', path = '', text = ''] = STEP.exec(line) ?? [];
  return number === undefined ? [] : [{ number: Number(number), label, path, text }];
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

test('the page has a walk of a webhook and one of a reconcile run', () => {
  expect(walks.map(({ title }) => title)).toEqual(['One webhook', 'One reconcile run']);
  expect(walks.map(({ steps }) => steps.at(0)?.path)).toEqual([
    'src/receiver/app.ts',
    'src/scheduler/scheduler.ts',
  ]);
});

describe.each(walks)('$title', ({ lines, steps }) => {
  test('has numbered steps, each a link to a file and one sentence', () => {
    expect(steps.length).toBe(lines.length);
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, place) => place + 1));
    expect(steps.filter(({ label, path }) => path !== `src/${label}`)).toEqual([]);
    expect(steps.filter(({ text }) => !/^[^.]*(?:\.\w[^.]*)*\.$/.test(text))).toEqual([]);
  });

  test('names files that exist, each once', () => {
    expect(steps.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
    const paths = steps.map(({ path }) => path);
    expect(paths.filter((path, place) => paths.indexOf(path) !== place)).toEqual([]);
  });

  test('names each file after one that imports it', () => {
    const reachable = new Set(composed());
    const unreachable = steps.filter(({ path }) => {
      const isReachable = reachable.has(path);
      for (const imported of existsSync(join(root, path)) ? importsOf(path) : []) {
        reachable.add(imported);
      }
      return !isReachable;
    });
    expect(unreachable.map(({ number, path }) => `${number}. ${path}`)).toEqual([]);
  });
});

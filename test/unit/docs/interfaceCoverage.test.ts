/** docs/interface-coverage.md: no row empty, and everything that it names is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const COLUMNS = ['contract', 'client', 'sandbox', 'test'] as const;

interface Row {
  readonly heading: string;
  readonly cells: readonly string[];
}

const rows: readonly Row[] = readFileSync(join(root, 'docs/interface-coverage.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => {
    const [heading = '', ...cells] = line.slice(2, -2).split(' | ');
    return { heading, cells };
  });

/** A file, and the title of a test in it where one is named. */
interface Reference {
  readonly path: string;
  readonly title: string | undefined;
}

function referencesIn(cell: string): readonly Reference[] {
  return [...cell.matchAll(/`([\w/.]+)`(?: "([^"]+)")?/g)].map(([, path = '', title]) => ({
    path: path.startsWith('test/') ? path : `src/${path}`,
    title,
  }));
}

describe('the table of the interface', () => {
  test('has a row for every heading, each once', () => {
    const headings = rows.map(({ heading }) => heading);
    expect(new Set(headings).size).toBe(headings.length);
    // The document has 51 headings, of which four only hold others.
    expect(headings.length).toBeGreaterThanOrEqual(47);
  });

  test.each(rows)('$heading: no cell is empty', ({ cells }) => {
    expect(cells).toHaveLength(COLUMNS.length);
    for (const [index, cell] of cells.entries()) {
      const folder = COLUMNS[index] === 'test' ? 'test/' : `src/${COLUMNS[index]}/`;
      const references = referencesIn(cell);
      if (cell.startsWith('none: ')) expect(cell.length).toBeGreaterThan('none: '.length);
      else expect(references.length, cell).toBeGreaterThan(0);
      for (const { path } of references) expect(path).toContain(folder);
    }
  });

  test.each(rows)('$heading: everything named is there', ({ cells }) => {
    for (const { path, title } of cells.flatMap(referencesIn)) {
      expect(existsSync(join(root, path)), path).toBe(true);
      if (title === undefined) continue;
      expect(readFileSync(join(root, path), 'utf8'), `${path}: ${title}`).toContain(title);
    }
  });

  test('names every file of endpoints, requests, resources and every conformance test', () => {
    const named = new Set(
      rows.flatMap(({ cells }) => cells.flatMap(referencesIn)).map(({ path }) => path),
    );
    const files = ['src/contract/endpoints', 'src/contract/requests', 'src/contract/resources'];
    const expected = [...files, 'test/conformance'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
    );
    const shared = /\/(index|fields|target)\.ts$/;
    expect(expected.filter((path) => !named.has(path) && !shared.test(path))).toEqual([]);
  });
});

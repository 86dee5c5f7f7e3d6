/** docs/service-interface.md, docs/interface-coverage.md, and the citations of both. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fillTables, readSections } from '../../../scripts/interface/document.ts';
import { writeCoverage } from '../../../scripts/writeCoverage.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { STATEMENTS, type Statement } from '../../conformance/statements/index.ts';

const read = (file: string) => readFileSync(join(packageRoot(), file), 'utf8');
const serviceInterface = read('docs/service-interface.md');
const sections = readSections(serviceInterface);
const numbers = new Set(sections.map(({ number }) => number));

describe('generated files are up to date; `npm run generate` writes them', () => {
  test('the tables of service-interface.md', () => {
    expect(fillTables(serviceInterface)).toBe(serviceInterface);
  });

  test('interface-coverage.md', () => {
    expect(read('docs/interface-coverage.md')).toBe(writeCoverage(STATEMENTS, sections));
  });
});

test('a statement occurs once in its section', () => {
  const titles = STATEMENTS.map(({ section, kind, text }) => [section, kind, text].join(' '));
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test('every section has a number of its own', () => {
  expect(numbers.size).toBe(sections.length);
  expect(sections.length).toBeGreaterThan(60);
});

test('every statement belongs to a section', () => {
  expect(STATEMENTS.filter(({ section }) => !numbers.has(section))).toEqual([]);
});

test('every section has a statement, its own or in a subsection', () => {
  const isCovered = (number: string) =>
    STATEMENTS.some(({ section }) => section === number || section.startsWith(`${number}.`));
  expect([...numbers].filter((number) => !isCovered(number))).toEqual([]);
});

/** Whether a statement names `field`, in its text or in the path that it checks. */
function names({ text, check }: Statement, field: string): boolean {
  const path = 'path' in check ? check.path : '';
  return path.endsWith(field) || text.includes(field);
}

test('every row of a table has a statement in its section', () => {
  const unstated = sections.flatMap(({ number, text }) => {
    const own = STATEMENTS.filter(({ section }) => section === number);
    const fields = [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, field = '']) => field);
    return fields
      .filter((field) => !own.some((statement) => names(statement, field)))
      .map((field) => `§${number} ${field}`);
  });
  expect(unstated).toEqual([]);
});

test('every section that is cited exists', () => {
  const root = packageRoot();
  const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.md', '*.sql', '*.sh'], {
    cwd: root,
    encoding: 'utf8',
  });
  const cited = files
    .split('\n')
    .filter((file) => file !== '')
    .flatMap((file) => [...read(file).matchAll(CITATION)].map(([, list = '']) => ({ file, list })))
    .flatMap(({ file, list }) =>
      [...list.matchAll(/§(\d+(?:\.\d+)*)/g)].map(([, number = '']) => ({ file, number })),
    );
  expect(cited.length).toBeGreaterThan(250);
  expect(cited.filter(({ number }) => !numbers.has(number))).toEqual([]);
});

/** `service-interface.md §4.3.1`, or a list of sections; a comment may break the line in between. */
const CITATION =
  /service-interface\.md[)"]?[\s*]+((?:§\d+(?:\.\d+)*(?:,?[\s*]+(?:and[\s*]+)?)?)+)/g;

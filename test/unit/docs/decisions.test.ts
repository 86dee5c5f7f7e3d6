/** docs/decisions: one decision each, all of them in the index, and every citation leads to one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const folder = join(root, 'docs/decisions');
const files = readdirSync(folder)
  .filter((file) => file !== 'README.md')
  .toSorted();
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

test.each(files)('%s has its number and holds one decision', (file) => {
  const text = read(file);
  expect(text).toMatch(new RegExp(`^# ${Number(file.slice(0, 4))}\\. \\S`));
  expect(text.match(/^\*\*Decision\.\*\*/gm)).toHaveLength(1);
});

test('no two records have one number', () => {
  const numbers = files.map((file) => file.slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('the index lists every record by its title', () => {
  const rows = files.map((file) => {
    const [, title = ''] = /^# \d+\. (.+)$/m.exec(read(file)) ?? [];
    return `| ${file.slice(0, 4)} | [${title}](${file}) |`;
  });
  const listed = read('README.md')
    .split('\n')
    .filter((line) => /^\| \d/.test(line));
  expect(listed).toEqual(rows);
});

test('the explanations list every record by its title, under one theme', () => {
  const themes = readFileSync(join(root, 'docs/explanations/README.md'), 'utf8');
  const listed = [...themes.matchAll(/^- \[(.+)\]\(\.\.\/decisions\/(\S+)\)$/gm)].map(
    ([, title, file]) => `${file}: ${title}`,
  );
  const titled = files.map((file) => `${file}: ${/^# \d+\. (.+)$/m.exec(read(file))?.[1]}`);
  expect(listed.toSorted()).toEqual(titled);
});

describe('every citation in the code names an existing record', () => {
  test.each(['src', 'workers', 'test', 'bench', 'scripts', 'migrations'])('in %s', (part) => {
    const sources = readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|sql|sh|yml)$/.test(path))
      .map((path) => readFileSync(join(root, part, path), 'utf8'));
    const cited = sources.flatMap((text) =>
      [...text.matchAll(/docs\/decisions\/(\d{4}[a-z0-9-]*)/g)].map(([, name = '']) => name),
    );
    const broken = cited.filter((name) => !files.some((file) => file.startsWith(name)));
    expect(broken).toEqual([]);
  });
});

/** The pages of the documentation site: every page is in the navigation, and what it links to is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MANUAL } from '../../../scripts/manual/blocks.ts';
import { convertPage, type FindTarget, sidebarOf } from '../../../scripts/site/pages.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const overview = readFileSync(join(packageRoot(), 'docs/README.md'), 'utf8');

/** READMEs of packages, pages that the page beside them links to, and one that has moved. */
const ELSEWHERE = /^docs\/(?:packages\/|README\.md|console\.md|sql-views\.md)|^README\.md/;

test('every page of the manual is in the navigation', () => {
  const pages = [...overview.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, target = '']) =>
    join('docs', target),
  );
  const missing = MANUAL.filter((page) => !pages.includes(page) && !ELSEWHERE.test(page));
  expect(missing).toEqual([]);
});

test('the navigation has tutorials, how-to guides, reference and explanations', () => {
  const sidebar = sidebarOf(overview);
  expect(sidebar.map(({ text }) => text)).toEqual([
    'Tutorials',
    'How-to guides',
    'Reference',
    'Explanations',
  ]);
  expect(sidebar[0]?.items[0]).toEqual({
    text: 'Your first hour',
    link: '/docs/tutorials/first-hour',
  });
  expect(sidebar[3]?.items[0]?.link).toBe('/ARCHITECTURE');
});

const find: FindTarget = (path) => {
  if (path.endsWith('.md')) return { kind: 'page', path };
  return { kind: path.includes('.') || path === 'Procfile' ? 'file' : 'folder', path };
};
const convert = (text: string) => convertPage('docs/guides/page.md', text, find);

test.each([
  ['[a](access.md#use-it)', '[a](./access.md#use-it)'],
  ['[a](../decisions/README.md)', '[a](../decisions/index.md)'],
  ['[a](../../Procfile)', '[a](/files/Procfile.txt)'],
  ['[a](../openapi-admin.json)', '[a](/files/docs/openapi-admin.json)'],
  ['[a](../../deploy/systemd)', '[a](../../deploy/systemd/index.md)'],
  ['[a](https://example.com/x)', '[a](https://example.com/x)'],
  ['[a](#heading)', '[a](#heading)'],
  ['```sh\necho "[a](access.md)"\n```', '```sh\necho "[a](access.md)"\n```'],
])('the link %j becomes %j', (text, converted) => {
  expect(convert(text).text).toBe(converted);
});

test('files and folders to which a page links are returned', () => {
  expect(convert('[a](../../Procfile), [b](access.md)').linked).toEqual([
    { kind: 'file', path: 'Procfile' },
  ]);
});

test('what only tests read is left out', () => {
  const page = '<!-- sh\nplace pay_1\n-->\n\n```sh with="12=$alert"\nnpx tallyhook status\n```\n';
  expect(convert(page).text).toBe('```sh\nnpx tallyhook status\n```\n');
});

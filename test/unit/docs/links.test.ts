/** Every relative link of a page leads to a file, and to a heading of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...pagesIn('docs'),
  ...pagesIn('examples'),
];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    .map((path) => join(folder, path));
}

const withoutCode = (text: string): string =>
  text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '');

/** Anchors as GitHub generates them. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

function isBroken(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor);
}

describe('links', () => {
  test.each(pages)('of %s have a target', (page) => {
    const text = withoutCode(readFileSync(join(root, page), 'utf8'));
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => isBroken(page, target));
    expect(broken).toEqual([]);
  });
});

/** Pages for operators name log messages that the code writes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => readFileSync(join(root, 'src', path), 'utf8'))
  .join('\n');

const pages = [
  'docs/runbook.md',
  'docs/guides/deployment.md',
  'docs/guides/monitoring.md',
  'docs/guides/sandbox.md',
];

/** Files have the form of log messages, too. */
const FILE = /\.(yml|json|md|ts)$/;

test.each(pages)('%s names only log messages that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const named = [...text.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name = '']) => name);
  const unknown = named.filter((name) => !FILE.test(name) && !sources.includes(`'${name}`));
  expect(unknown.filter((name) => name !== 'content.type')).toEqual([]);
});

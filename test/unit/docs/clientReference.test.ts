/** docs/client-reference.md: generated from the sources, for everything that is public. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { probeAdminClient, probeClient } from '../../../scripts/reference/probeClient.ts';
import { readExports } from '../../../scripts/reference/readSources.ts';
import { refuseUndocumented, writeReference } from '../../../scripts/reference/writeReference.ts';
import { ENDPOINTS } from '../../../src/contract/index.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const folder = mkdtempSync(join(tmpdir(), 'reference-'));
afterAll(() => rmSync(folder, { recursive: true }));

const written = readFileSync(join(packageRoot(), 'docs/client-reference.md'), 'utf8');
const exported = readExports(join(packageRoot(), 'src/client/index.ts'));

test('the document is current; `npm run generate` writes it', async () => {
  expect(written).toBe(await writeReference());
});

test.each([...exported.keys()])('%s is public and has its heading', (name) => {
  expect(
    written.split('\n').filter((line) => /^#+ /.test(line) && line.endsWith(` ${name}`)),
  ).toHaveLength(1);
});

test('every link has a heading as its target', () => {
  const anchors = new Set(
    [...written.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
  const linked = [...written.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
  expect(linked.length).toBeGreaterThan(100);
  expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([]);
});

test('every endpoint has a call', async () => {
  const used = new Set([...(await probeClient()).values(), ...(await probeAdminClient()).values()]);
  expect([...used].toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
});

/** Reads a module that exports what `source` declares. */
function read(source: string) {
  writeFileSync(join(folder, 'source.ts'), source);
  const names = [...source.matchAll(/^export \w+ (\w+)/gm)].map(([, name]) => name);
  writeFileSync(join(folder, 'index.ts'), `export { ${names.join(', ')} } from './source.ts';\n`);
  return readExports(join(folder, 'index.ts'));
}

test('a public name without a docstring is an error, and so is a call without one', () => {
  const bare = [...read('export interface Thing {\n  readonly id: string;\n}\n').values()];
  expect(() => refuseUndocumented(bare)).toThrow('without a docstring: Thing');
  const calls = '/** Calls. */\nexport interface ThingCalls {\n  get: () => Promise<void>;\n}\n';
  expect(() => refuseUndocumented([...read(calls).values()])).toThrow('ThingCalls.get');
});

test('a type that is derived from a schema has the docstring of the schema', () => {
  const source =
    '/** A thing. */\nexport const thing = z.object({});\nexport type Thing = z.infer<typeof thing>;\n';
  expect(read(source).get('Thing')).toMatchObject({ docstring: 'A thing.', schema: 'thing' });
});

test('members may span several lines, and an unreadable member is an error', () => {
  const source = [
    '/** A thing. */',
    'export interface Thing extends Base {',
    '  /** Does (so',
    '   * it is documented. */',
    '  act: (',
    '    id: string,',
    '    more?: { readonly at: number },',
    '  ) => Promise<void>;',
    '  readonly kind?: Kind;',
    '}',
    '',
  ].join('\n');
  const thing = read(source).get('Thing');
  expect(thing?.base).toBe('Base');
  expect(thing?.members).toEqual([
    {
      name: 'act',
      type: '(id: string, more?: { readonly at: number }) => Promise<void>',
      optional: false,
      docstring: 'Does (so\nit is documented.',
    },
    { name: 'kind', type: 'Kind', optional: true, docstring: '' },
  ]);
  expect(() => read('export interface Thing {\n  [key: string]: string;\n}\n')).toThrow(
    'not read as a member:   [key: string]: string;',
  );
});

/** Every block of the manual states how it is checked, and what needs no service is checked here. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Block,
  MANUAL,
  manualBlocks,
  readBlocks,
  where,
} from '../../../scripts/manual/blocks.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import {
  missingLine,
  wrongFormat,
  wrongPart,
  wrongProgram,
  wrongReason,
  wrongSettings,
} from '../../support/manual/formats.ts';

const blocks = manualBlocks();
const of = (way: Block['way']) => blocks.filter((block) => block.way === way);

test('the manual has pages and blocks', () => {
  expect(MANUAL.length).toBeGreaterThan(30);
  expect(blocks.length).toBeGreaterThan(80);
  const counts = new Map<string, number>();
  for (const { way, isHidden } of blocks) {
    if (!isHidden) counts.set(way, (counts.get(way) ?? 0) + 1);
  }
  const shown = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const list = [...counts].map(([way, count]) => `${way} ${count}`).join(', ');
  process.stdout.write(`${shown} blocks of the manual on ${MANUAL.length} pages: ${list}\n`);
});

describe('a block without a way to check it is refused', () => {
  test.each([
    ['no language', '```\nnpx tallyhook status\n```'],
    ['an unknown language', '```ruby\nputs 1\n```'],
    ['a text that is neither figure nor output', '```text\nhello\n```'],
    ['an unknown attribute', '```sh exitcode=6\nnpx tallyhook status\n```'],
    ['two ways', '```sh by=x.sh cannot="needs Docker"\nnpx tallyhook status\n```'],
    ['an indented block', 'Run:\n\n    npx tallyhook status'],
    ['a fence that does not end', '```sh\nnpx tallyhook status'],
  ])('%s', (_what, text) => {
    expect(() => readBlocks('page.md', text)).toThrow(/page\.md:\d/);
  });
});

describe.each([
  ['settings', wrongSettings],
  ['parse', wrongFormat],
  ['part', wrongPart],
  ['by', wrongProgram],
  ['cannot', wrongReason],
] as const)('%s', (way, wrongWith) => {
  test.each(of(way).map((block) => [where(block), block] as const))('%s', (_where, block) => {
    expect(wrongWith(block)).toBeUndefined();
  });
});

test.each([
  ['12  paid  evt_71a2  3 ms', '9871  paid  evt_00ff00  12 ms', undefined],
  ['12  paid  evt_71a2  3 ms', '9871  refused  evt_00ff00  12 ms', '12  paid  evt_71a2  3 ms'],
  ['Ready. …', 'Begin.\nReady. Go.', undefined],
  ['second\nfirst', 'first\nsecond', 'first'],
])('the sample %j of %j', (sample, output, missing) => {
  expect(missingLine(sample, output)).toBe(missing);
});

describe('TypeScript', () => {
  const root = packageRoot();
  /** Within the checkout for its compiler. Git ignores it like all build output. */
  const folder = join(root, 'dist', 'manual-blocks');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('of each page compiles against the types of the packages', async () => {
    rmSync(folder, { recursive: true, force: true });
    const pages = new Map<string, string[]>();
    for (const { page, code } of of('compile')) {
      pages.set(page, [...(pages.get(page) ?? []), code]);
    }
    expect(pages.size).toBeGreaterThan(4);
    const files = [...pages].map(([page, code]) => {
      const file = join(folder, `${page.replace(/\.md$/, '')}.ts`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${code.join('\n')}\nexport {};\n`);
      return file;
    });
    const compilerOptions = {
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: {
        '@tallyhook/client': ['../src/client/index.d.ts'],
        '@tallyhook/client/admin-api': ['../src/adminApi/index.d.ts'],
        '@tallyhook/client/contract': ['../src/contract/index.d.ts'],
        '@tallyhook/sandbox': ['../src/sandbox/package/index.d.ts'],
      },
    };
    const config = { extends: '../../tsconfig.json', compilerOptions, files, include: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const run = promisify(execFile);
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), [
      '--noEmit',
      '-p',
      folder,
    ]).catch((error: { readonly stdout: string }) => error);
    expect(stdout).toBe('');
  });
});

/** @tallyhook/sandbox, packed and put into a project with express and nothing else. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SANDBOX_PACKAGE } from '../../scripts/pack/packages.ts';
import { stagePackage } from '../../scripts/pack/stagePackage.ts';
import {
  brokenLinks,
  bytesIn,
  compileIn,
  type FreshProject,
  run,
  SLOWEST_INSTALL_MS,
  stageInProject,
  TYPE_ROOTS,
} from './freshProject.ts';

/** Of the tarball; express and what it brings are 2.4 MB more. */
const MAX_BYTES = 5_000_000;

let project: FreshProject;
beforeAll(async () => {
  project = await stageInProject(SANDBOX_PACKAGE);
}, SLOWEST_INSTALL_MS);
afterAll(() => project.remove());

test('each link of its pages leads to a file of the package', () => {
  expect(brokenLinks(join(project.folder, 'node_modules/@tallyhook/sandbox'))).toEqual([]);
});

test('it has less than 5 MB, with zod, and without statements of SQL', () => {
  const folder = join(project.folder, 'node_modules/@tallyhook/sandbox');
  expect(readdirSync(join(folder, 'node_modules'))).toEqual(['zod']);
  expect(bytesIn(folder)).toBeLessThan(MAX_BYTES);
  const files = readdirSync(join(folder, 'esm'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /postgres|platform\/db/.test(file))).toEqual([]);
});

const USE = `
const main = async () => {
  const sandbox = await startSandbox({ clock: '2026-11-23T09:00:00Z' });
  await sandbox.setClock('2026-11-22T09:00:00Z');
  await sandbox.reset({ faults: { seed: 7 } });
  console.log(sandbox.now().toISOString(), (await fetch(sandbox.baseUrl + '/health')).status);
  await sandbox.stop();
};
void main();
`;
const PRINTED = '2026-11-23T09:00:00.000Z 401';
const IMPORT = `import { startSandbox } from '@tallyhook/sandbox';`;
const TYPED = `
import { type Sandbox, type SandboxFaults, startSandbox } from '@tallyhook/sandbox';
export const faults: SandboxFaults = { webhooks: { drop: 0.5 } };
// @ts-expect-error: a share
export const wrong: SandboxFaults = { webhooks: { drop: 'often' } };
export const clockOf = (sandbox: Sandbox): Date => sandbox.now();
`;

test.each([
  ['plain.mjs', IMPORT + USE],
  ['plain.cjs', `const { startSandbox } = require('@tallyhook/sandbox');${USE}`],
])('plain JavaScript %s runs', async (file, code) => {
  project.write(file, code);
  const { stdout } = await run(process.execPath, [file], { cwd: project.folder });
  expect(stdout.trim()).toBe(PRINTED);
});

test.each(['module', 'commonjs'])(
  'TypeScript in a project of type %s compiles and runs',
  async (type) => {
    project.write(`${type}/package.json`, { type });
    project.write(`${type}/shop.ts`, TYPED + USE);
    project.write(`${type}/tsconfig.json`, {
      compilerOptions: {
        target: 'es2022',
        strict: true,
        module: 'nodenext',
        rootDir: '.',
        outDir: 'out',
        types: ['node'],
        typeRoots: TYPE_ROOTS,
      },
      files: ['shop.ts'],
    });
    const folder = join(project.folder, type);
    expect(await compileIn(folder)).toBe('');
    const { stdout } = await run(process.execPath, ['out/shop.js'], { cwd: folder });
    expect(stdout.trim()).toBe(PRINTED);
  },
);

test('a package that installs what it does not import is refused', async () => {
  const entries = { '.': 'src/sandbox/domain/time.ts' };
  const definition = { ...SANDBOX_PACKAGE, entries, dependencies: ['pg'] };
  await expect(stagePackage(definition, join(project.folder, 'refused'))).rejects.toThrow(
    '@tallyhook/sandbox does not import pg',
  );
});

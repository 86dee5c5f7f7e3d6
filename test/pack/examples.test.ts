/**
 * The examples compile with the packed packages, and the 100 tests of the tested shop pass.
 * scripts/check-packages.sh also runs the others, with a registry and a running installation.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT_PACKAGE, SANDBOX_PACKAGE } from '../../scripts/pack/packages.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import {
  compileIn,
  type FreshProject,
  linkPackage,
  run,
  SLOWEST_INSTALL_MS,
  stageInProject,
} from './freshProject.ts';

let project: FreshProject;
beforeAll(async () => {
  project = await stageInProject(CLIENT_PACKAGE, SANDBOX_PACKAGE);
  for (const name of ['vitest', '@types/node']) linkPackage(project, name);
  cpSync(join(packageRoot(), 'examples'), project.folder, {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
}, SLOWEST_INSTALL_MS);
afterAll(() => project.remove());

test.each(['take-payment', 'tested-shop'])('the example %s compiles', async (name) => {
  expect(await compileIn(join(project.folder, name))).toBe('');
});

const NO_LIMITS = ['--testTimeout=600000', '--hookTimeout=600000'];

test('the tested shop passes its 100 tests, in several workers', async () => {
  const vitest = join(project.folder, 'node_modules/vitest/vitest.mjs');
  const { stdout } = await run(
    process.execPath,
    // Vitest's limit of five seconds for a test is too short on a machine that does forty other things.
    [vitest, 'run', '--maxWorkers=4', '--reporter=json', ...NO_LIMITS],
    {
      cwd: join(project.folder, 'tested-shop'),
      env: { PATH: process.env.PATH },
    },
  );
  const report = stdout.slice(stdout.indexOf('{"numTotalTestSuites"'));
  expect(JSON.parse(report)).toMatchObject({ numTotalTests: 100, numPassedTests: 100 });
});

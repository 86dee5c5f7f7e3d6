/** The simulator in short form: the command finds nothing in the program, and each planted bug. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PLANTS } from '../../scripts/simulator/plants.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { testSeed } from '../support/random.ts';

const run = promisify(execFile);

async function simulate(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const program = join(packageRoot(), 'dist', 'scripts', 'simulate.js');
  try {
    const { stdout } = await run(process.execPath, [program, ...args]);
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: `${stdout}${stderr}` };
  }
}

const SEED = testSeed();

test(`no life of 150 seeds breaks a rule (TEST_SEED=${SEED})`, async () => {
  const { code, output } = await simulate(
    '--seed',
    String(SEED),
    '--lives',
    '150',
    '--seconds',
    '600',
  );
  expect(output).toContain('150 lives');
  expect(code, output).toBe(0);
});

test.each(PLANTS)('it finds the planted bug "$name"', async ({ name }) => {
  const { code, output } = await simulate(
    '--plant',
    name,
    '--lives',
    '5000',
    '--seconds',
    '600',
    '--brief',
  );
  expect(code, output).toBe(1);
  expect(output).toMatch(/^seed \d+ fails/);
});

test('a failing life is printed as a story, and is the same each time', async () => {
  const args = ['--plant', 'double delivery', '--lives', '500', '--seconds', '600'];
  const [first, second] = [await simulate(...args), await simulate(...args, '--brief')];
  expect(first.output).toContain('What is broken during the faults:');
  expect(first.output.split('\n')[0]).toBe(second.output.split('\n')[0]);
});

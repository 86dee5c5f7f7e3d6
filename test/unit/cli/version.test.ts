import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { packageVersion } from '../../../src/platform/packageRoot.ts';

test('--version prints the version of package.json and nothing else', async () => {
  const terminal = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  };
  expect(await run({ args: ['--version'], terminal })).toBe(0);
  expect(String(terminal.stdout.read())).toBe(`${packageVersion()}\n`);
  expect(terminal.stderr.read()).toBeNull();
});

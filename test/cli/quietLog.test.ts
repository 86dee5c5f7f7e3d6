/** What a command logs is not part of its output. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

test('a command logs to standard error, so that JSON on standard output stays JSON', () => {
  const module = pathToFileURL(join(packageRoot(), 'dist/src/cli/context.js')).href;
  const program = `import { quiet } from '${module}'; quiet.error({ error: new Error('lost') }, 'database.lost');`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect((JSON.parse(stderr) as { msg: string }).msg).toBe('database.lost');
});

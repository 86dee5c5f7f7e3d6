/** Output that nobody reads any more: `tallyhook ... | head`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

test('a command ends without a word when its reader has closed the pipe', async () => {
  const child = spawn(process.execPath, [join(packageRoot(), 'bin/tallyhook.js'), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('a command ends with its own exit code where nobody reads its errors', async () => {
  const child = spawn(process.execPath, [join(packageRoot(), 'bin/tallyhook.js'), 'no-command'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.destroy();
  const [code] = await once(child, 'exit');
  expect(code).toBe(2);
});

/** What runs in the process of the tests of scripts/mutate.sh. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRunning, watchRunning } from '../../../scripts/mutation/running.ts';

test('a process in a loop without an end is ended, and the test and the mutant are known', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'running-'));
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const file = path.join(folder, 'running.json');
  const running = { pid: child.pid, file: 'a.test.ts', test: 'loops', mutant: 7, endsByMs: 0 };
  writeFileSync(file, JSON.stringify(running));
  const unwatch = watchRunning(file);
  onTestFinished(() => {
    unwatch();
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  expect(readRunning(file)).toEqual(running);
});

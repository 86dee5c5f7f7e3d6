/** Programs of the machine: commands that end, and servers that go on in their namespace. */
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Node, USER } from './nodes.ts';

const execute = promisify(execFile);

/** @throws Error with what the command printed, unless it succeeds */
export async function run(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(command, args, { timeout: 60_000 });
  return stdout;
}

/** Starts a server as the unprivileged user, in a namespace if one is named. It outlives this process. */
export function startServer(
  name: string,
  { node, log }: { readonly node: Node | undefined; readonly log: string },
  ...command: readonly string[]
): void {
  const asUser = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--init-groups', ...command];
  const [file = '', ...args] = node ? ['ip', 'netns', 'exec', node.namespace, ...asUser] : asUser;
  const output = openSync(log, 'a', 0o600);
  const child = spawn(file, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C.UTF-8', SERVER_NAME: name },
  });
  closeSync(output);
  child.unref();
}

/** Waits until a condition holds. @throws Error after `seconds` */
export async function until(
  what: string,
  seconds: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  let failure: unknown;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > endMs) {
      throw new Error(`waited ${seconds} s for ${what}`, { cause: failure });
    }
    await pause(200);
  }
}

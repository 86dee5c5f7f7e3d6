/**
 * What another process can see of a secret, or do, between any two calls that create it. The files
 * are real; the test chooses only the order in which two processes reach them.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { localSecret } from '../../../src/config/localSecrets.ts';

/** Called before and after every call to the file system, and within those that take several steps. */
const otherProcess = vi.hoisted(() => ({ act: (): void => undefined }));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const observed = Object.entries(fs).map(([name, value]): [string, unknown] => {
    if (!name.endsWith('Sync') || typeof value !== 'function') return [name, value];
    return [
      name,
      (...args: unknown[]): unknown => {
        otherProcess.act();
        const result: unknown = Reflect.apply(value, fs, args);
        otherProcess.act();
        return result;
      },
    ];
  });
  /** Opening a file creates it before anything is written to it. */
  const writeFileSync = (
    path: string,
    content: string,
    options: { readonly flag?: string; readonly mode?: number } = {},
  ): void => {
    otherProcess.act();
    const file = fs.openSync(path, options.flag ?? 'w', options.mode);
    for (const part of [content.slice(0, 20), content.slice(20)]) {
      otherProcess.act();
      fs.writeSync(file, part);
    }
    fs.closeSync(file);
    otherProcess.act();
  };
  return { ...Object.fromEntries(observed), writeFileSync };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-secrets-'));
});
afterEach(() => {
  otherProcess.act = () => undefined;
  rmSync(folder, { recursive: true });
});

/** Runs `work` as another process, without interference in its steps. */
function undisturbed<T>(work: () => T): T {
  const { act } = otherProcess;
  otherProcess.act = () => undefined;
  try {
    return work();
  } finally {
    otherProcess.act = act;
  }
}

test('a secret exists completely or not at all, and others can never read it', () => {
  let steps = 0;
  otherProcess.act = () =>
    undisturbed(() => {
      steps += 1;
      if (!readdirSync(folder).includes('token')) return;
      const path = join(folder, 'token');
      expect(readFileSync(path, 'utf8'), `at step ${steps}`).toMatch(/^[0-9a-f]{64}\n$/);
      expect(statSync(path).mode & 0o777, `at step ${steps}`).toBe(0o600);
    });
  localSecret(folder, 'token');
  expect(steps).toBeGreaterThan(5);
});

test('processes that start together use one secret, regardless of the step at which they meet', () => {
  for (let at = 1, isReached = true; isReached; at += 1) {
    const name = `token-${at}`;
    let others: string | undefined;
    let steps = 0;
    otherProcess.act = () => {
      steps += 1;
      if (steps === at) others = undisturbed(() => localSecret(folder, name));
    };
    const own = localSecret(folder, name);
    isReached = others !== undefined;
    if (isReached) expect(own, `the other process came at step ${at}`).toBe(others);
    else expect(at).toBeGreaterThan(5);
  }
});

test('a full disk is named as the cause, with what to do, and leaves no part of a secret', () => {
  otherProcess.act = () => {
    if (undisturbed(() => readdirSync(folder)).length === 0) return;
    otherProcess.act = () => undefined;
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  };
  expect(() => localSecret(folder, 'token')).toThrow(/is full \(ENOSPC.*\)\. Make room on it/);
  expect(readdirSync(folder)).toEqual([]);
});

test('a secret that others could read, as after a restored backup, becomes readable by its owner only', () => {
  const path = join(folder, 'token');
  const secret = 'a-secret-from-a-backup-0123456789';
  writeFileSync(path, secret, { mode: 0o644 });
  expect(localSecret(folder, 'token')).toBe(secret);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

// A first start with sudo leaves such a folder, and a container may have a read-only disk.
test.each([
  ['EACCES', '', /cannot be used .* belongs to this user\. .* sudo chown -R \d+ /],
  ['EPERM', '', /cannot be used .* belongs to this user\. .* sudo chown -R \d+ /],
  [
    'EACCES',
    'new',
    /new cannot be created \(EACCES: .*that this user may write to, or set DATA_DIR/,
  ],
  ['EROFS', 'new', /new cannot be created \(EROFS: .*that this user may write to, or set DATA_DIR/],
])('without access to the folder, the error names what to do: %s %s', (code, below, message) => {
  otherProcess.act = () => {
    otherProcess.act = () => undefined;
    throw Object.assign(new Error(`${code}: not permitted, open 'token'`), { code });
  };
  const attempt = () => localSecret(join(folder, below), 'token');
  expect(attempt).toThrow(
    expect.objectContaining({ name: 'OperatorError', message: expect.stringMatching(message) }),
  );
});

/** Generated secrets: an empty one would open the admin port and verify every webhook. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { localSecret } from '../../src/config/localSecrets.ts';
import { checkout } from '../support/embeddedPostgresProcess.ts';

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyhook-secrets-'));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const script = `
  const { localSecret } = await import(process.argv[1]);
  process.stdout.write(localSecret(process.argv[2], 'token'));
`;

/** The secret as another process reads or makes it; empty when that failed. */
async function secretOfProcess(folder: string, before = ''): Promise<string> {
  const module = pathToFileURL(path.join(checkout, 'dist/src/config/localSecrets.js')).href;
  const run = `${before} exec "$0" --input-type=module --eval "$@"`;
  const args = ['-c', run, process.execPath, script, module, folder];
  const child = spawn('bash', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await once(child, 'close');
  return printed;
}

test('a secret is made once, with its prefix, for its owner only', () => {
  const folder = newFolder();
  const secret = localSecret(folder, 'key', 'snd_');
  expect(secret).toMatch(/^snd_[0-9a-f]{64}$/);
  expect(localSecret(folder, 'key', 'snd_')).toBe(secret);
  expect(statSync(path.join(folder, 'key')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['key']);
});

test.each([[''], ['\n'], [' \n'], ['0123456789abcdefghijklmnopqrstu\n'], [`${'0'.repeat(64)}\n`]])(
  'a file that contains %j is rejected with the next step',
  (content) => {
    const folder = newFolder();
    writeFileSync(path.join(folder, 'token'), content);
    expect(() => localSecret(folder, 'token')).toThrow(
      /token is empty or damaged.*Delete the file/,
    );
    expect(readFileSync(path.join(folder, 'token'), 'utf8')).toBe(content);
  },
);

test('a full disk leaves no file that a later start would use as a secret', async () => {
  const folder = newFolder();
  expect(await secretOfProcess(folder, 'ulimit -f 0;')).toBe('');
  expect(readdirSync(folder)).toEqual([]);
  expect(await secretOfProcess(folder)).toMatch(/^[0-9a-f]{64}$/);
});

test('processes that start together read one secret', async () => {
  const folder = newFolder();
  const secrets = await Promise.all(Array.from({ length: 8 }, () => secretOfProcess(folder)));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(readdirSync(folder)).toEqual(['token']);
});

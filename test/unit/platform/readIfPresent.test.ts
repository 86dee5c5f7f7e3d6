import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test } from 'vitest';
import { readIfPresent } from '../../../src/platform/embeddedPostgres/folder.ts';

/** Each of them sees the file come and go. */
const ROUNDS = 5_000;

/** Creates and removes the file until it is ended, as servers do with `postmaster.pid`. */
const CREATE_AND_REMOVE = `
  const { rmSync, writeFileSync } = require('node:fs');
  for (;;) {
    writeFileSync(process.env.FILE, '1');
    rmSync(process.env.FILE);
  }
`;

describe('a file that another process may remove', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyhook-read-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is read, or is undefined', () => {
    const file = path.join(folder, 'there');
    expect(readIfPresent(file)).toBeUndefined();
    writeFileSync(file, 'text');
    expect(readIfPresent(file)).toBe('text');
    expect(() => readIfPresent(folder)).toThrow('EISDIR');
  });

  test('may be removed at any moment', async () => {
    const file = path.join(folder, 'removed');
    const other = new Worker(CREATE_AND_REMOVE, { eval: true, env: { FILE: file } });
    try {
      await once(other, 'online');
      const readUntil = (wanted: string | undefined) => {
        while (readIfPresent(file) !== wanted);
      };
      expect(() => {
        for (let round = 0; round < ROUNDS; round += 1) {
          readUntil('1');
          readUntil(undefined);
        }
      }).not.toThrow();
    } finally {
      await other.terminate();
    }
  });
});

/** The lockfile: what `npm ci` installs is what was reviewed, from whichever registry it comes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
}

const lockfile = JSON.parse(readFileSync(join(packageRoot(), 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const installed = Object.entries(lockfile.packages).filter(([path]) => path !== '');

/** Optional binaries for other platforms than Linux on x64 and arm64. Their digests are still to be added. */
const WITHOUT_DIGEST =
  /^node_modules\/(?:@biomejs\/cli-(?:android|darwin|win32|linux-(?:arm64|x64)-musl)|@msgpackr-extract\/msgpackr-extract-(?:darwin|win32|linux-arm$))/;

test('has a SHA-512 of every package that is installed on Linux', () => {
  expect(installed.length).toBeGreaterThan(100);
  const unverified = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  expect(unverified.filter(([path]) => !WITHOUT_DIGEST.test(path)).map(([path]) => path)).toEqual(
    [],
  );
  expect(unverified.filter(([, { optional }]) => optional !== true)).toEqual([]);
});

test('names no registry, link or address', () => {
  const elsewhere = installed.filter(([, entry]) => entry.resolved !== undefined || entry.link);
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});

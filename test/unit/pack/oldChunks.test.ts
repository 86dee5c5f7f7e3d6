import { expect, test } from 'vitest';
import { oldChunks } from '../../../scripts/pack/oldChunks.ts';

const START_MS = Date.UTC(2026, 5, 1);

/** The files in a folder after builds at these hours, each of one file that all have and one of its own. */
function filesAfter(hours: readonly number[]): readonly string[] {
  const files = new Map<string, number>();
  for (const [build, hour] of hours.entries()) {
    const nowMs = START_MS + hour * 3_600_000;
    const written = new Set(['console.js', `pages-${build}.js`]);
    const before = [...files].map(([name, mtimeMs]) => ({ name, mtimeMs }));
    const { replaced, replacedMs, outdated } = oldChunks(before, written, nowMs);
    for (const name of written) files.set(name, nowMs);
    for (const name of replaced) files.set(name, replacedMs);
    for (const name of outdated) files.delete(name);
  }
  return [...files.keys()].sort();
}

test('a build keeps the files of the one that it replaces, however old, for its processes', () => {
  expect(filesAfter([0, 240])).toEqual(['console.js', 'pages-0.js', 'pages-1.js']);
  expect(filesAfter([0, 240, 263])).toEqual([
    'console.js',
    'pages-0.js',
    'pages-1.js',
    'pages-2.js',
  ]);
});

test('a build removes what was replaced more than a day ago', () => {
  expect(filesAfter([0, 240, 265])).toEqual(['console.js', 'pages-1.js', 'pages-2.js']);
  expect(filesAfter([0, 0.001, 0.002, 25, 50])).toEqual(['console.js', 'pages-3.js', 'pages-4.js']);
});

test('the first build has nothing to remove', () => {
  expect(filesAfter([0])).toEqual(['console.js', 'pages-0.js']);
});

/** Releases: one version in every file that repeats it, a changelog in one form, and all checks in the script. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot, packageVersion } from '../../../src/platform/packageRoot.ts';

const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8');
const changelog = read('docs/CHANGELOG.md');

/** The sections of the changelog, the newest first. */
const versions = changelog
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ heading: text.slice(0, text.indexOf('\n')), text }));

test('the lockfile and the newest version of the changelog have the version of package.json', () => {
  const lock = JSON.parse(read('package-lock.json'));
  expect([lock.version, lock.packages[''].version]).toEqual([packageVersion(), packageVersion()]);
  expect(versions[1]?.heading).toMatch(
    new RegExp(`^${packageVersion().replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d$`),
  );
});

test('the changelog begins with what is unreleased, and its versions are dated and descend', () => {
  expect(versions[0]?.heading).toBe('Unreleased');
  const dated = versions.slice(1).map(({ heading }) => heading.split(' - '));
  expect(dated.map((parts) => parts.length).every((count) => count === 2)).toBe(true);
  const dates = dated.map(([, date = '']) => date);
  expect(dates).toEqual(dates.toSorted().toReversed());
});

test.each(versions)(
  '$heading has the sections of Keep a Changelog, each once, and its upgrade',
  ({ text }) => {
    const sections = [...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name);
    const known = ['Added', 'Changed', 'Deprecated', 'Fixed', 'Removed', 'Security', 'Upgrade'];
    expect(sections.filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(new Set(sections).size).toBe(sections.length);
    const upgrade = text.split('### Upgrade')[1];
    expect(upgrade?.trim()).toMatch(/\w/);
  },
);

test('a release runs every script that CONTRIBUTING.md names for before a release', () => {
  const named = [
    ...read('CONTRIBUTING.md').matchAll(/^ {4}(scripts\/\S+\.sh(?: \w+)*) +# before a release/gm),
  ];
  const script = read('scripts/release.sh');
  const run = script.slice(script.indexOf('CHECKS=('), script.indexOf('\n)') + 1);
  expect(named.length).toBeGreaterThan(8);
  const isRun = (command = '') =>
    [command, `'${command}'`].some((one) => run.includes(`  ${one}\n`));
  expect(named.map(([, command]) => command).filter((command) => !isRun(command))).toEqual([]);
  expect(run).toContain("'npm run check'");
});

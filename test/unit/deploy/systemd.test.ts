/** deploy/systemd names what the program has, and restricts each unit alike. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import {
  endsWithin,
  isSetting,
  longestDrainSeconds,
  processes,
  procfile,
  readDeployed,
} from './program.ts';

type Directives = readonly (readonly [name: string, value: string])[];

function directives(path: string): Directives {
  return [...readDeployed(path).matchAll(/^([A-Za-z]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
}

const valuesOf = (unit: Directives, name: string): readonly string[] =>
  unit.filter(([key]) => key === name).map(([, value]) => value);

const role = directives('systemd/tallyhook@.service');
const migrate = directives('systemd/tallyhook-migrate.service');
const INSTALLED = 'node_modules/tallyhook/';

/** Options of Node.js of a role: its own, or those of all roles. */
function heapOptions(name: string): string {
  const path = `systemd/tallyhook@${name}.service.d/heap.conf`;
  const hasOwn = existsSync(join(packageRoot(), 'deploy', path));
  const [options = ''] = valuesOf(hasOwn ? directives(path) : role, 'Environment');
  return options.replace(/^NODE_OPTIONS=/, '');
}

test('the target starts every process of the Procfile', () => {
  const wanted = valuesOf(directives('systemd/tallyhook.target'), 'Wants');
  expect(wanted).toEqual(Object.keys(processes()).map((name) => `tallyhook@${name}.service`));
});

test.each(Object.entries(processes()))('%s runs the command of the Procfile', (name, command) => {
  const [exec = ''] = valuesOf(role, 'ExecStart');
  const words = exec
    .replace('/usr/bin/node', `node ${heapOptions(name)}`)
    .replace(INSTALLED, '')
    .replaceAll('%i', name);
  expect(words.split(/\s+/)).toEqual(command.split(' '));
});

test('the migration runs the command of the Procfile', () => {
  const [exec = ''] = valuesOf(migrate, 'ExecStart');
  expect(exec.replace('/usr/bin/', '').replace(INSTALLED, '')).toBe(procfile().release);
});

test('systemd waits for the longest drain', () => {
  const [seconds = ''] = valuesOf(role, 'TimeoutStopSec');
  expect(endsWithin(Number(seconds), longestDrainSeconds())).toBe(true);
});

describe('no unit holds a setting, which anyone may read there', () => {
  test.each([
    'tallyhook@.service',
    'tallyhook-migrate.service',
    'tallyhook.target',
    'tallyhook@receiver.service.d/heap.conf',
    'tallyhook@events.service.d/heap.conf',
  ])('%s', (file) => {
    const set = valuesOf(directives(`systemd/${file}`), 'Environment');
    expect(set.filter((entry) => !entry.startsWith('NODE_OPTIONS='))).toEqual([]);
  });
});

test('no role runs as root, and the migration has the same restrictions', () => {
  const restrictions = (unit: Directives): Directives =>
    unit
      .slice(unit.findIndex(([name]) => name === 'DynamicUser'))
      .filter(([name]) => name !== 'User' && name !== 'WantedBy');
  expect(restrictions(role)).toContainEqual(['DynamicUser', 'yes']);
  expect(restrictions(migrate)).toEqual(restrictions(role));
});

test('each role has a user of its own', () => {
  expect(valuesOf(role, 'User')).toEqual(['tallyhook-%i']);
  expect(valuesOf(migrate, 'User')).toEqual(['tallyhook-migrate']);
});

test('every setting that the guide names exists', () => {
  const guide = readFileSync(join(packageRoot(), 'docs/guides/systemd.md'), 'utf8');
  const names = [...guide.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !isSetting(name))).toEqual([]);
});

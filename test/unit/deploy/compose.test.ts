/** deploy/compose names what the program has, and gives each role its own login and no more. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DATABASE_ROLES, ROLES } from '../../../src/assembly/roles.ts';
import { SETTINGS } from '../../../src/config/config.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import {
  endsWithin,
  imageEntrypoint,
  isSetting,
  processes,
  procfile,
  readDeployed,
} from './program.ts';

interface Service {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const text = readDeployed('compose/compose.yaml');
const { services } = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const ours = Object.entries(services).filter(([, { image }]) => image.startsWith('tallyhook:'));
const rolesScript = readDeployed('compose/postgres/roles.sh');

/** The roles of the database that each login is a member of. */
const memberships = new Map(
  [...rolesScript.matchAll(/^create role (\w+) login .* in role (.+);$/gm)].map(
    ([, login = '', roles = '']) => [login, roles.split(', ')] as const,
  ),
);

test.each(Object.entries(processes()))('%s runs the command of the Procfile', (name, command) => {
  expect(services[name]?.entrypoint?.join(' ')).toBe(command);
});

test('the schema is migrated by the command of the Procfile', () => {
  const { command = [] } = services.migrate ?? {};
  expect([...imageEntrypoint(), ...command].join(' ')).toBe(procfile().release);
});

test('every setting exists', () => {
  const names = ours.flatMap(([, { environment = {} }]) => Object.keys(environment));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !isSetting(name))).toEqual([]);
});

test('each role logs in with the rights of its role of the database, and only migrate as the owner', () => {
  for (const role of ROLES) {
    const needed = DATABASE_ROLES[role];
    if (needed === undefined) continue;
    const url = services[role]?.environment?.DATABASE_URL ?? '';
    const [, login = ''] = /^postgres:\/\/(\w+):/.exec(url) ?? [];
    expect(memberships.get(login), role).toContain(needed);
  }
  const owners = ours.filter(([, service]) => /_owner:/.test(JSON.stringify(service)));
  expect(owners.map(([name]) => name)).toEqual(['migrate']);
});

test('the script of the database gets each password that it reads', () => {
  const read = [...rolesScript.matchAll(/^\\getenv \w+ (\w+)$/gm)].map(([, name = '']) => name);
  expect(read.length).toBe(4);
  expect(Object.keys(services.postgres?.environment ?? {})).toEqual(expect.arrayContaining(read));
});

test('no secret is in the file', () => {
  const values = Object.values(services).flatMap(({ environment = {} }) =>
    Object.entries(environment),
  );
  for (const [name, value] of values) {
    if (/SECRET|TOKEN|PASSWORD|_KEY$/.test(name)) expect(value, name).toBe(`\${${name}:?}`);
    if (name.endsWith('_URL')) expect(value, name).toMatch(/^redis:\/\/redis:|:\$\{\w+:\?\}@/);
  }
});

test('the guide names every variable without a default', () => {
  const guide = readFileSync(join(packageRoot(), 'docs/guides/containers.md'), 'utf8');
  const variables = new Set([...text.matchAll(/\$\{(\w+):\?\}/g)].map(([, name = '']) => name));
  expect([...variables].filter((name) => !guide.includes(name))).toEqual([]);
});

test('Docker waits for a process that drains', () => {
  for (const [name, { stop_grace_period: period = '', environment }] of ours) {
    const drainSeconds = Number(environment?.DRAIN_SECONDS ?? 0);
    expect(endsWithin(Number(period.replace(/s$/, '')), drainSeconds), name).toBe(true);
  }
});

test('ports are those of the program, and open to this machine only', () => {
  const { PORT, ADMIN_PORT } = SETTINGS.parse({});
  const published = ours.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
  expect(published).toEqual([
    ['receiver', `127.0.0.1:${PORT}:${PORT}`],
    ['console', `127.0.0.1:${ADMIN_PORT}:${ADMIN_PORT}`],
  ]);
});

test('no container of Tallyhook writes or has a capability', () => {
  for (const [name, service] of ours) {
    expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  }
});

/** With `--json`, standard output is JSON and nothing else, also where a command fails. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { loadAll } from '../../src/cli/commands/index.ts';
import type { FailureJson } from '../../src/cli/failure.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Environment, type Exit, settingsFor, spawnProgram } from '../support/program.ts';
import { createTestToken } from '../support/tokens.ts';

const schema = z.fromJSONSchema(
  JSON.parse(readFileSync(join(packageRoot(), 'docs/command-error.schema.json'), 'utf8')),
);

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

let leaves: readonly Leaf[];
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  leaves = (await loadAll()).flatMap((command) => leavesOf(command, []));
});
afterAll(() => db.drop());

function leavesOf(command: Command, parents: readonly string[]): readonly Leaf[] {
  const path = [...parents, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((one) => leavesOf(one, path));
  return command.options.some(({ long }) => long === '--json') ? [{ path, command }] : [];
}

/** The error that is all of standard output, as the schema has it. */
function errorOf({ code, stdout, stderr }: Exit): FailureJson['error'] {
  const printed = schema.parse(JSON.parse(stdout)) as FailureJson;
  expect(printed.error.exit_code).toBe(code);
  expect(code).not.toBe(0);
  // People get the same text.
  expect(stderr).toContain(printed.error.message);
  return printed.error;
}

const run = (args: readonly string[], env: Environment = settingsFor(db.url)) =>
  runTallyhook(args, { env });

test('the schema permits no other shape', () => {
  const error = {
    type: 'api_error',
    code: 'HE_00',
    message: '',
    class: 'unexpected',
    exit_code: 1,
  };
  expect(schema.safeParse({ error }).success).toBe(true);
  for (const other of [{}, error, { error: { ...error, class: 'other' } }, { error: {} }]) {
    expect(schema.safeParse(other).success).toBe(false);
  }
});

test('every command with --json prints an error of its arguments as JSON', async () => {
  expect(leaves.length).toBeGreaterThan(80);
  for (const { path } of leaves) {
    const error = errorOf(await run([...path, '--json', '--no-such-option']));
    expect(error, path.join(' ')).toMatchObject({ class: 'usage', code: 'IR_04' });
    expect(error.message).toMatch(/--no-such-option|^required option/);
  }
});

/** What runs until a signal, what needs no database, and what reports on it. */
const WITHOUT_DATABASE = ['start', 'demo', 'sandbox', 'settings', 'doctor', 'listen', 'tail'];

test('every command with --json prints an unreachable database as JSON', async () => {
  const env = settingsFor(db.url, {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere',
    ADMIN_PORT: '8081',
    ARCHIVE_URL: 'file:///tmp',
    PAYMENTS_BASE_URL: 'http://127.0.0.1:1',
    PAYMENTS_API_KEY: 'snd_test',
  });
  const without = leaves.filter(
    ({ path, command }) =>
      !WITHOUT_DATABASE.includes(path[0] ?? '') &&
      command.registeredArguments.every(({ required }) => !required) &&
      command.options.every(({ mandatory }) => !mandatory),
  );
  expect(without.length).toBeGreaterThan(25);
  const classes = new Map<string, string>();
  for (const { path } of without) {
    classes.set(path.join(' '), errorOf(await run([...path, '--json'], env)).class);
  }
  const others = [...classes].filter(([, one]) => one !== 'unavailable');
  expect(Object.fromEntries(others)).toEqual({
    'events replay': 'usage',
    'erasures check': 'usage',
  });
});

const NOWHERE = ['orders', 'show', 'ord_nowhere'];

test.each<[string, readonly string[], Partial<FailureJson['error']>, Environment]>([
  ['an unknown id', NOWHERE, { class: 'not_found', code: 'IR_05' }, {}],
  ['a state that does not permit it', ['resume'], { class: 'refused' }, {}],
  ['settings that are not valid', NOWHERE, { class: 'usage' }, { PORT: 'eighty' }],
  ['a missing argument', ['orders', 'show'], { class: 'usage' }, {}],
  ['a missing command', ['orders'], { class: 'usage' }, {}],
  ['an unknown command', ['ordres', 'list'], { class: 'usage' }, {}],
])('%s', async (_name, args, expected, more) => {
  expect(errorOf(await run([...args, '--json'], settingsFor(db.url, more)))).toMatchObject(
    expected,
  );
});

test('a role that does not permit it', async () => {
  const token = await createTestToken(db, { name: 'json-viewer', role: 'viewer' });
  const env = settingsFor(db.url, { TALLYHOOK_TOKEN: token });
  const error = errorOf(await run(['pause', '--reason', 'x', '--json'], env));
  expect(error).toMatchObject({ class: 'refused', type: 'invalid_request' });
});

test('without --json, and after --, standard output stays empty', async () => {
  for (const args of [NOWHERE, ['orders', 'show', '--', '--json']]) {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('is known as');
  }
});

test('help is no error', async () => {
  const { code, stdout } = await run(['orders', 'show', '--json', '--help']);
  expect(code).toBe(0);
  expect(stdout).not.toContain('"error"');
});

test('the process prints the same and exits', async () => {
  const args = [...NOWHERE, '--json'];
  const { exit } = spawnProgram('bin/tallyhook.js', args, { env: settingsFor(db.url) });
  expect(await exit).toEqual({ ...(await run(args)), signal: null });
});

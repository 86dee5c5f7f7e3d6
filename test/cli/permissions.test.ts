/**
 * Every command with a token of every role: the decision that is made before a command runs, and for
 * some commands the process itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Permission, permits, ROLES, type Role } from '../../src/access/domain/roles.ts';
import { readTokenRows } from '../../src/access/store/tokens.ts';
import { authorizeCommand } from '../../src/cli/authorize.ts';
import { withInvocation } from '../../src/cli/invocation.ts';
import { COMMAND_PERMISSIONS } from '../../src/cli/permissions.ts';
import { loadConfig } from '../../src/config/config.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { settingsFor } from '../support/program.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';
import { createTestToken, createTokensOfEveryKind } from '../support/tokens.ts';

let db: TestDatabase;
let tokens: Map<string, string>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tokens.set('unknown', `thk_admin_${'x'.repeat(43)}`);
  tokens.set('ADMIN_TOKEN', ADMIN_TOKEN);
});
afterAll(() => db.drop());

/** For files with secrets. */
const folder = mkdtempSync(join(tmpdir(), 'tallyhook-tokens-'));
afterAll(() => rmSync(folder, { recursive: true }));

const GUARDED = Object.entries(COMMAND_PERMISSIONS).flatMap(([path, needed]) =>
  needed === 'local' ? [] : [[path, needed] as const],
);

/** What the command line does before it runs the command. */
const decide = (path: string, needed: Permission, holder: string) => {
  const config = loadConfig({
    DATABASE_URL: db.url,
    ADMIN_TOKEN,
    TALLYHOOK_TOKEN: tokens.get(holder),
  });
  const given = { args: path.split(' '), terminal: process };
  return withInvocation(given, () => authorizeCommand(path, needed, config));
};

const reasonOfRefusal = (path: string, needed: Permission, holder: string) =>
  decide(path, needed, holder).then(
    () => undefined,
    (error: Error) => error.message,
  );

test.each(GUARDED)(
  'tallyhook %s runs for a viewer only if the role permits it',
  async (path, needed) => {
    const refusal = await reasonOfRefusal(path, needed, 'viewer');
    if (permits('viewer', needed)) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(`which does not permit \`tallyhook ${path}\``);
  },
);

/** A command of each permission: what is decided depends on nothing else. */
const ONE_OF_EACH = [...new Map(GUARDED.map(([path, needed]) => [needed, path]))];

describe.each(ONE_OF_EACH)('a command that needs the permission %s', (needed, path) => {
  test('runs for the roles that permit it, and for no other', async () => {
    const permitted: Role[] = [];
    for (const role of ROLES) {
      const refusal = await reasonOfRefusal(path, needed, role);
      if (refusal === undefined) permitted.push(role);
      else expect(refusal).toContain(`which does not permit \`tallyhook ${path}\``);
    }
    expect(permitted).toEqual(ROLES.filter((role) => permits(role, needed)));
  });

  test.each(['expired', 'revoked', 'unknown'])(
    'does not run with the token: %s',
    async (holder) => {
      await expect(decide(path, needed, holder)).rejects.toThrow('is not a valid token');
    },
  );

  test('runs with ADMIN_TOKEN, and without a token', async () => {
    await decide(path, needed, 'ADMIN_TOKEN');
    await decide(path, needed, 'nobody');
  });
});

describe('the process', () => {
  const run = (holder: string, ...args: readonly string[]) =>
    runTallyhook(args, { env: settingsFor(db.url, { TALLYHOOK_TOKEN: tokens.get(holder) }) });

  test('a viewer may read but not pause, and the rejection is in the audit log', async () => {
    expect(await run('viewer', 'orders', 'list')).toMatchObject({ code: 0 });
    const paused = await run('viewer', 'pause', '--reason', 'test');
    expect(paused.code).toBe(4);
    expect(paused.stderr).toContain('Roles that permit it: operator, admin. Nothing was done.');
    expect(await db.query('select id from reconcile_pauses')).toEqual([]);
    const denials = await db.query<{ name: string }>(
      `select distinct actor_name as name from audit where action = 'access.denied'`,
    );
    expect(denials.map(({ name }) => name)).toContain('a-viewer');
  });

  test.each([
    ['a-viewer', 'viewer', 4, 'Roles that permit it: operator, admin. Nothing was done.'],
    ['nobody any more', 'revoked', 4, 'is not a valid token'],
  ])('a token in a file is that of %s', async (_, holder, code, message) => {
    const file = join(folder, holder);
    writeFileSync(file, tokens.get(holder) ?? '', { mode: 0o600 });
    const env = settingsFor(db.url, { TALLYHOOK_TOKEN_FILE: file });
    const paused = await runTallyhook(['pause', '--reason', 'test'], { env });
    expect(paused.stderr).toContain(message);
    expect(paused.code).toBe(code);
    expect(await db.query('select id from reconcile_pauses')).toEqual([]);
  });

  test('an operator acts only under the name of the token', async () => {
    const other = await run('operator', 'pause', '--reason', 'test', '--by', 'somebody else');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('--by cannot be used with TALLYHOOK_TOKEN');
    expect(await run('operator', 'pause', '--reason', 'test')).toMatchObject({ code: 0 });
    expect(
      await db.query(
        `select actor_kind as kind, actor_name as name, actor_role as role from audit
          where action = 'reconciliation.pause'`,
      ),
    ).toEqual([{ kind: 'token', name: 'a-operator', role: 'operator' }]);
  });

  test('only a treasurer may move money', async () => {
    const capture = ['authorizations', 'capture', 'pay_1', '--yes'];
    expect((await run('operator', ...capture)).stderr).toContain('does not permit');
    expect((await run('treasurer', ...capture)).stderr).toContain('No API key');
  });

  test('a command that does not use the ledger needs no valid token', async () => {
    const env = settingsFor(db.url, { TALLYHOOK_TOKEN: tokens.get('revoked') });
    expect(await runTallyhook(['sign', '-'], { env, input: '{}' })).toMatchObject({ code: 0 });
  });

  test('a token is printed once, works at once, and is revoked by name', async () => {
    const { code, stdout, stderr } = await run(
      'admin',
      'tokens',
      'create',
      '--name',
      'till-7',
      '--role',
      'viewer',
      '--expires-in',
      '30d',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^thk_viewer_[\w-]{43}\n$/);
    expect(stderr).toContain('expires');
    tokens.set('till-7', stdout.trim());
    expect(await run('till-7', 'orders', 'list')).toMatchObject({ code: 0 });

    const list = await run('admin', 'tokens', 'list', '--json');
    expect(list.stdout).not.toContain(stdout.trim());
    const [newest] = JSON.parse(list.stdout).tokens;
    expect(newest).toMatchObject({
      name: 'till-7',
      role: 'viewer',
      state: 'valid',
      created_by: 'a-admin',
    });
    expect(newest.last_used_at).not.toBeNull();

    const again = await run('admin', 'tokens', 'create', '--name', 'till-7', '--role', 'viewer');
    expect(again).toMatchObject({ code: 4 });
    expect(again.stderr).toContain('Another token has the name till-7');

    expect(await run('admin', 'tokens', 'revoke', 'till-7')).toMatchObject({ code: 0 });
    expect((await run('till-7', 'orders', 'list')).stderr).toContain('is not a valid token');
    const [row] = await readTokenRows(db, { all: true, limit: 1 });
    expect(row).toMatchObject({ name: 'till-7', state: 'revoked', revokedBy: 'a-admin' });
    expect(
      await db.query(
        `select action, actor_name as by, detail ->> 'role' as role from audit
          where subject_kind = 'token' and subject_id = 'till-7' order by id`,
      ),
    ).toEqual([
      { action: 'token.create', by: 'a-admin', role: 'viewer' },
      { action: 'token.revoke', by: 'a-admin', role: 'viewer' },
    ]);
  });

  test.each([
    ['admin', 'This is the name of ADMIN_TOKEN'],
    ['Till 7', 'Give lowercase letters'],
  ])('a token is not named %s', async (name, message) => {
    const created = await run('admin', 'tokens', 'create', '--name', name, '--role', 'viewer');
    expect(created.code).not.toBe(0);
    expect(created.stderr).toContain(message);
  });
});

test('the name of an expired token can be used again', async () => {
  await createTestToken(db, { name: 'expired', role: 'viewer' });
  const rows = await readTokenRows(db, { all: true, limit: 100 });
  const states = rows.filter(({ name }) => name === 'expired').map(({ state }) => state);
  expect(states).toEqual(['valid', 'revoked']);
});

test('the database does not contain the text of a token', async () => {
  const [row] = await db.query<{ text: string }>(
    `select string_agg(t::text, ' ') as text from tokens t`,
  );
  for (const token of tokens.values()) expect(row?.text).not.toContain(token);
});

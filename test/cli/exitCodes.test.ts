/** Every command ends with a code of the table, and each class of it has the code that the reference states. */
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadAll } from '../../src/cli/commands/index.ts';
import { type Ending, EXIT_CODES } from '../../src/cli/exitCodes.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { type Environment, settingsFor } from '../support/program.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const NOWHERE = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };

const codeOf = async (args: readonly string[], more: Environment = {}) =>
  (await runTallyhook(args, { env: settingsFor(db.url, more) })).code;

test.each<[Ending, readonly string[], Environment]>([
  ['success', ['orders', 'list'], {}],
  ['success', ['--help'], {}],
  ['usage', ['orders', 'list', '--no-such-option'], {}],
  ['usage', ['orders', 'show'], {}],
  ['usage', ['ordres'], {}],
  ['usage', ['pause', '--reason', ' '], {}],
  ['usage', ['retention', 'run', '--minutes', '5m'], {}],
  ['usage', ['orders', 'list'], { PORT: 'eighty' }],
  ['not_found', ['orders', 'show', 'ord_nowhere'], {}],
  ['refused', ['resume'], {}],
  ['refused', ['orders', 'list'], { TALLYHOOK_TOKEN: `thk_admin_${'x'.repeat(43)}` }],
  ['unavailable', ['orders', 'list'], NOWHERE],
  ['differences', ['doctor'], NOWHERE],
])('%s: %j', async (ending, args, more) => {
  expect(await codeOf(args, more)).toBe(EXIT_CODES[ending].code);
});

test('differences: verify finds what was changed beside it', async () => {
  const id = unique('pay');
  await db.query(
    `insert into resources (kind, id, order_key, status) values ('payment', $1, 'order:' || $1, 'succeeded')`,
    [id],
  );
  expect(await codeOf(['verify', '--full'])).toBe(EXIT_CODES.differences.code);
  await db.query('delete from resources where id = $1', [id]);
});

test('unexpected: an error that is none of a command’s', async () => {
  await db.query('alter table orders rename to orders_away');
  const code = await codeOf(['orders', 'list']);
  await db.query('alter table orders_away rename to orders');
  expect(code).toBe(EXIT_CODES.unexpected.code);
});

test('the codes differ, and the help states them', async () => {
  const codes = Object.values(EXIT_CODES).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  const { stdout } = await runTallyhook(['--help']);
  for (const { code, meaning } of Object.values(EXIT_CODES)) {
    expect(stdout).toContain(`  ${code}  ${meaning.split(' ')[0]}`);
  }
});

test('no help names a code outside of the table', async () => {
  const known = new Set(Object.values(EXIT_CODES).map(({ code }) => String(code)));
  const helps = (await loadAll()).flatMap(helpsOf);
  expect(helps.length).toBeGreaterThan(80);
  for (const { path, text } of helps) {
    const [, stated] = /Exit code[^:]*: ([\s\S]*)/.exec(text) ?? [];
    const named = [...(stated ?? '').matchAll(/(?:^|[,;] |or )(\d+)\b/g)].map(([, code]) => code);
    for (const code of named) expect(known, `${path}: ${code}`).toContain(code);
    // 1 is no ending that a command chooses.
    expect(named, path).not.toContain('1');
  }
});

function helpsOf(command: Command): readonly { readonly path: string; readonly text: string }[] {
  if (command.commands.length > 0) return command.commands.flatMap(helpsOf);
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return [{ path: command.name(), text }];
}

/** Pages name commands and options of the program only; docs/reference/commands.md is generated. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFailureSchema, writeCommands } from '../../../scripts/writeCommands.ts';
import { buildOutputSchema } from '../../../scripts/writeOutputs.ts';
import { COMMANDS } from '../../../src/cli/commands/index.ts';
import { COMMAND_OUTPUTS } from '../../../src/cli/outputs.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

let commands: readonly Command[];
beforeAll(async () => {
  commands = await Promise.all(COMMANDS.map(({ load }) => load()));
});

/** In code, up to the end of the line, a comment of the shell, or what follows the command in it. */
const namedIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:`|^ *)(?:npm ci && )?(?:npx )?tallyhook ([a-z][^`\n]*)/gm)].map(
    ([, words = '']) => words.replace(/ +(#|>|\||&&).*$/, '').replaceAll(/[[\]]/g, ''),
  );

function isCommand(words: readonly string[], among: readonly Command[]): boolean {
  const [name, ...rest] = words;
  const command = among.find((one) => one.name() === name);
  if (!command) return false;
  if (command.commands.length > 0 && rest.length > 0) return isCommand(rest, command.commands);
  return rest
    .filter((word) => word.startsWith('--'))
    .every((option) => command.options.some(({ long }) => long === option));
}

describe('commands and options', () => {
  test.each(pages)('of %s exist', (page) => {
    const unknown = namedIn(read(page)).filter((words) => !isCommand(words.split(' '), commands));
    expect(unknown).toEqual([]);
  });
});

test('the reference is current; `npm run generate` writes it', async () => {
  expect(read('docs/reference/commands.md')).toBe(await writeCommands());
});

test('the schema of errors is current; `npm run generate` writes it', () => {
  const schema = `${JSON.stringify(buildFailureSchema(), null, 2)}\n`;
  expect(read('docs/command-error.schema.json')).toBe(schema);
});

test('the schema of outputs is current; `npm run generate` writes it', () => {
  const schema = `${JSON.stringify(buildOutputSchema(), null, 2)}\n`;
  expect(read('docs/command-output.schema.json')).toBe(schema);
});

test('every command with --json declares its output, and no other does', () => {
  const names = (command: Command, parents = ''): readonly string[] => {
    const name = `${parents}${command.name()}`;
    if (command.commands.length > 0)
      return command.commands.flatMap((one) => names(one, `${name} `));
    return command.options.some(({ long }) => long === '--json') ? [name] : [];
  };
  const withJson = commands.flatMap((command) => names(command));
  const declared = Object.entries(COMMAND_OUTPUTS).filter(([, { given }]) => !given);
  expect(withJson.toSorted()).toEqual(declared.map(([name]) => name).toSorted());
});

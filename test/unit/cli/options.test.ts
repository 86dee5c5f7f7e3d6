import { type Command, InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands/index.ts';
import { momentOption } from '../../../src/cli/options.ts';

function parse(text: string): unknown {
  return momentOption('--from', 'x').parseArg?.(text, undefined);
}

test.each([
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T10:00:00Z', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00.25+02:00', '2026-11-01T08:00:00.250Z'],
])('%s is %s', (text, instant) => {
  expect(parse(text)).toBe(Date.parse(instant) * 1000);
});

test.each(['', 'yesterday', '2026-02-30', '2026-13-01', '01.11.2026', '2026-11-01T25:00:00Z', '1'])(
  '%j is rejected, and the message shows the valid forms',
  (text) => {
    expect(() => parse(text)).toThrow(InvalidArgumentError);
    expect(() => parse(text)).toThrow(/2026-11-01T10:00:00Z/);
  },
);

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

test('every command that takes a reason refuses an empty one, and records it without spaces around it', async () => {
  const commands = (await Promise.all(COMMANDS.map(({ load }) => load()))).flatMap(leavesOf);
  const taking = commands.flatMap((command) => {
    const option = command.options.find(({ long }) => long === '--reason');
    return option ? [{ name: command.name(), option }] : [];
  });
  expect(taking.length).toBeGreaterThan(15);
  for (const { name, option } of taking) {
    expect(() => option.parseArg?.(' ', undefined), name).toThrow(/Give a reason/);
    expect(option.parseArg?.(' a request ', undefined), name).toBe('a request');
  }
});

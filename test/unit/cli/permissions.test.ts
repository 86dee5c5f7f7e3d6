/** Every command has a permission, and no permission is of a command that is gone. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands/index.ts';
import { COMMAND_PERMISSIONS, permissionOf } from '../../../src/cli/permissions.ts';

function leavesOf(command: Command, parents = ''): readonly string[] {
  const path = `${parents}${command.name()}`;
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((child) => leavesOf(child, `${path} `));
}

test('the table has every command of the program, in its order', async () => {
  const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
  const paths = commands.flatMap((command) => leavesOf(command));
  expect(Object.keys(COMMAND_PERMISSIONS)).toEqual(paths);
});

test('a command without an entry is refused', () => {
  expect(() => permissionOf('orders delete')).toThrow('has no permission');
});

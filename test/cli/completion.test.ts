/** Completion of the command line, in a real bash; zsh and fish where they are installed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAll } from '../../src/cli/commands/index.ts';
import { TRIGGERED_TYPES } from '../../src/demo/triggers.ts';
import { runTallyhook } from '../support/cli.ts';
import { noteSkipped } from '../support/noteSkipped.ts';

const folder = mkdtempSync(join(tmpdir(), 'tallyhook-completion-'));
let commands: readonly Command[];

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runTallyhook(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const file = join(folder, `tallyhook.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

let bash: string;
beforeAll(async () => {
  commands = await loadAll();
  bash = await scriptOf('bash');
  writeFileSync(join(folder, 'an event.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers after each line, of which the last word is what is typed so far. */
function complete(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const program = `
    source "$1"; shift
    [[ $(complete -p tallyhook) == 'complete -F _tallyhook tallyhook' ]] || exit 9
    while IFS= read -r line; do
      IFS=$'\\t' read -r -a COMP_WORDS <<< "$line"
      [[ $line == *$'\\t' ]] && COMP_WORDS+=('')
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      _tallyhook
      (IFS=$'\\t'; printf '%s\\n' "\${COMPREPLY[*]}")
    done`;
  const input = lines.map((words) => `${['tallyhook', ...words].join('\t')}\n`).join('');
  const { status, stdout, stderr } = spawnSync('bash', ['-c', program, 'bash', bash], {
    input,
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').filter((word) => word !== ''));
}

function completed(...words: readonly string[]): readonly string[] {
  return complete([words])[0] ?? [];
}

test('commands and those below them', () => {
  expect(completed('tri')).toEqual(['trigger']);
  expect(completed('events', '')).toEqual(
    expect.arrayContaining(['list', 'show', 'variants', 'replay', 'discard', '--help']),
  );
  expect(completed('events', 'li')).toEqual(['list']);
});

test('options, also after the values of others', () => {
  expect(completed('events', 'list', '--st')).toEqual(['--state']);
  expect(completed('events', 'list', '--state', 'dead', '--ty')).toEqual(['--type']);
});

test('choices of options and arguments', () => {
  const states = ['pending', 'applied', 'not_applied', 'dead', 'discarded'];
  expect(completed('events', 'list', '--state', '')).toEqual(states);
  expect(completed('events', 'list', '--state', '=', 'd')).toEqual(['dead', 'discarded']);
  expect(completed('events', 'list', '--state', '=')).toEqual(states);
  expect(completed('trigger', 'refund')).toEqual(['refund_succeeded', 'refund_failed']);
  expect(completed('trigger', '')).toEqual(expect.arrayContaining([...TRIGGERED_TYPES]));
  expect(completed('completion', '')).toEqual(['bash', 'zsh', 'fish', '--help']);
});

test('files where a file is expected, and nothing where nothing is known', () => {
  expect(completed('send', 'an')).toEqual(['an event.json']);
  expect(completed('export', 'journal', '--output', 'tallyhook.b')).toEqual(['tallyhook.bash']);
  expect(completed('events', 'list', '--limit', '')).toEqual([]);
});

test('every command completes to its own options and commands', () => {
  const nodes = commands.flatMap((command) => nodesOf(command, []));
  const offered = complete(nodes.map(({ path }) => [...path, '']));
  expect(nodes.length).toBeGreaterThan(90);
  for (const [index, { path, command }] of nodes.entries()) {
    const names = command.commands.map((child) => child.name());
    const flags = command.options.flatMap(({ long }) => long ?? []);
    const hasFiles = command.registeredArguments[0]?.name() === 'file';
    const wanted = hasFiles ? ['an event.json'] : [...names, ...flags, '--help'];
    expect(offered[index], path.join(' ')).toEqual(expect.arrayContaining(wanted));
  }
});

function nodesOf(
  command: Command,
  parents: readonly string[],
): readonly { readonly path: readonly string[]; readonly command: Command }[] {
  const path = [...parents, command.name()];
  return [{ path, command }, ...command.commands.flatMap((child) => nodesOf(child, path))];
}

/** A tool that the project does not need: by a literal it would count as a dependency. */
const FISH: string = 'fish';
const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;
for (const shell of ['zsh', FISH]) {
  if (!isInstalled(shell)) noteSkipped(shell, 'its tests of completion are');
}

describe.each(['zsh', 'fish'])('%s', (shell) => {
  test('the script names every command', async () => {
    const { stdout } = await runTallyhook(['completion', shell]);
    for (const command of commands) expect(stdout).toContain(command.name());
  });

  test.skipIf(!isInstalled(shell))('the script is valid', async () => {
    const checked = spawnSync(shell, ['-n', await scriptOf(shell)], { encoding: 'utf8' });
    expect(checked).toMatchObject({ status: 0, stderr: '' });
  });
});

test.skipIf(!isInstalled('fish'))('fish completes commands, options and choices', async () => {
  const script = await scriptOf('fish');
  const offered = (line: string) =>
    spawnSync(FISH, ['-c', `source $argv[1]; complete -C $argv[2]`, script, line], {
      encoding: 'utf8',
    })
      .stdout.split('\n')
      .map((row) => row.split('\t')[0])
      .filter(Boolean);
  expect(offered('tallyhook tri')).toEqual(['trigger']);
  expect(offered('tallyhook events list --state d')).toEqual(['dead', 'discarded']);
  expect(offered('tallyhook trigger refund_f')).toEqual(['refund_failed']);
});

test('an unknown shell is refused', async () => {
  const { code, stdout, stderr } = await runTallyhook(['completion', 'powershell']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('Allowed choices are bash, zsh, fish');
});

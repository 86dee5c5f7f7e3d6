/** Text from outside in what commands print: it moves no cursor, changes no color and turns no line around. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from '../../../src/cli/confirm.ts';
import { printJson, printJsonLine } from '../../../src/cli/context.ts';
import {
  type Output,
  printLine,
  printNote,
  printText,
  withInvocation,
} from '../../../src/cli/invocation.ts';
import { run } from '../../../src/cli/run.ts';
import { styled } from '../../../src/cli/style.ts';
import { printTable } from '../../../src/cli/table.ts';
import { OperatorError } from '../../../src/platform/errors.ts';
import { failureText } from '../../../src/platform/shutdown.ts';

/** Clears the screen, sets the title, begins an 8-bit sequence and turns the direction of writing. */
const HOSTILE = 'x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eyz';
const SHOWN = 'x\uFFFD[2J\uFFFD]0;owned\uFFFD\uFFFD31m\uFFFDyz';

function createOutput(isTTY = false): Output & { text(): string } {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(output, { isTTY, text: () => Buffer.concat(chunks).toString('utf8') });
}

/** What is written to standard output and standard error. */
async function printed(print: () => unknown): Promise<{ stdout: string; stderr: string }> {
  const [stdout, stderr] = [createOutput(), createOutput()];
  const terminal = { stdin: Readable.from([]), stdout, stderr };
  await withInvocation({ args: [], terminal }, async () => print());
  return { stdout: stdout.text(), stderr: stderr.text() };
}

test('a line shows a replacement for each such character, and begins no other line', async () => {
  const { stdout } = await printed(() => printLine(`status ${HOSTILE}\nThe refund is done.`));
  expect(stdout).toBe(`status ${SHOWN}\uFFFDThe refund is done.\n`);
});

test('text of several lines and notes keep their lines alone', async () => {
  const { stdout, stderr } = await printed(() => {
    printText(`one ${HOSTILE}\r\n\ttwo`);
    printNote(`three ${HOSTILE}\nfour`);
  });
  expect({ stdout, stderr }).toEqual({
    stdout: `one ${SHOWN}\n  two\n`,
    stderr: `three ${SHOWN}\nfour\n`,
  });
});

test('a table shows a replacement', async () => {
  const { stdout } = await printed(() => printTable(['STATUS'], [[HOSTILE]]));
  expect(stdout).toContain(SHOWN);
});

test('a line in color has no color but its own', () => {
  const style = { hasColor: true, width: undefined };
  expect(styled({ text: HOSTILE, look: 'good' }, style)).toBe(`\u001b[32m${SHOWN}\u001b[0m`);
  expect(styled({ text: HOSTILE, look: 'plain' }, style)).toBe(SHOWN);
});

test('JSON has the same value, without such a character', async () => {
  const value = { status: `${HOSTILE} \u{E0041}\ud800` };
  const { stdout } = await printed(() => {
    printJson(value);
    printJsonLine(value);
  });
  expect(stdout).not.toMatch(/(?!\n)\p{C}/u);
  const [line = '', ...lines] = stdout.trim().split('\n').toReversed();
  expect(JSON.parse(line)).toEqual(value);
  expect(JSON.parse(lines.toReversed().join('\n'))).toEqual(value);
});

test('a prompt and an error show a replacement', async () => {
  const [output, stderr] = [createOutput(), createOutput()];
  const stdin = Object.assign(Readable.from([]), { isTTY: true });
  await confirm(`Refund ${HOSTILE}?`, false, { input: stdin, output }).catch(() => undefined);
  expect(output.text()).toContain(`Refund ${SHOWN}? [y/N] `);
  await run({ args: [HOSTILE], terminal: { stdin, stdout: createOutput(), stderr } });
  expect(stderr.text()).toContain(`error: unknown command '${SHOWN}'`);
});

test('why a process ends is printed with a replacement, with and without a stack trace', () => {
  expect(failureText(new OperatorError(`a ${HOSTILE}\nb`))).toBe(`tallyhook: a ${SHOWN}\nb\n`);
  const unforeseen = failureText(new Error(HOSTILE));
  expect(unforeseen).toContain(`Error: ${SHOWN}\n    at `);
  expect(unforeseen).not.toMatch(/(?!\n)\p{C}/u);
});

/** Where output is written past `printLine` and its like, because it is for programs or escaped already. */
const WRITERS: Readonly<Record<string, string>> = {
  'invocation.ts': 'the functions that are tested here',
  'run.ts': 'errors and the help of commander, tested here',
  'confirm.ts': 'tested here',
  'context.ts': 'JSON, tested here',
  'table.ts': 'tested here',
  'screen.ts': 'styled lines',
  'progress.ts': 'escapes its line',
  'outputFile.ts': 'exports, byte for byte',
  'commands/status.ts': 'styled lines',
  'commands/completion.ts': 'a script, without text from outside',
  'commands/testChannels.ts': 'the log, which is JSON',
};

test('nothing else writes to the terminal', () => {
  const folder = path.resolve(import.meta.dirname, '../../../src/cli');
  const writers = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) =>
      /\.write\(|terminal\(\)\.stdout,|printEscaped|lines\.(log|error)|console\.(log|error)/.test(
        readFileSync(path.join(folder, name), 'utf8'),
      ),
    );
  expect(writers.filter((name) => WRITERS[name] === undefined)).toEqual([]);
});

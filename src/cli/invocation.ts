/**
 * One run of the command line: what it is given, who runs it, and its exit code. Many can run in one
 * process, so nothing here is of the process: what commands call finds its own run by the async context.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import type { Readable, Writable } from 'node:stream';
import type { Holder } from '../access/verifyToken.ts';
import type { Environment } from '../config/config.ts';
import { printable, printableLines } from '../platform/printable.ts';
import { type Ending, EXIT_CODES } from './exitCodes.ts';

/** Where a command writes; a terminal has a size. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface Invocation {
  /** The command, and what follows it. */
  readonly args: readonly string[];
  /** Undefined: the environment of the process, with defaults from `.env`. */
  readonly env?: Environment;
  readonly terminal: Terminal;
}

interface Run extends Invocation {
  /** Ignores that a reader closed its pipe early. */
  readonly lines: Console;
  ending: Ending;
  /** Undefined without TALLYHOOK_TOKEN. */
  holder?: Holder;
}

const runs = new AsyncLocalStorage<Run>();

/** @returns the exit code that the work set, or 0 */
export async function withInvocation(
  given: Invocation,
  work: () => Promise<unknown>,
): Promise<number> {
  const { stdout, stderr } = given.terminal;
  const run: Run = { ...given, lines: new Console({ stdout, stderr }), ending: 'success' };
  await runs.run(run, work);
  return EXIT_CODES[run.ending].code;
}

/** The run that the caller is part of. */
export function invocation(): Run {
  const run = runs.getStore();
  if (!run) throw new Error('no command runs here');
  return run;
}

export function terminal(): Terminal {
  return invocation().terminal;
}

/** Prints one line to standard output. What is in it may come from outside (platform/printable.ts). */
export function printLine(text = ''): void {
  printEscaped(printable(text));
}

/** The same for text of several lines. */
export function printText(text: string): void {
  printEscaped(printableLines(text));
}

/** Prints to standard error, which is for what is not the output of a command. */
export function printNote(text: string): void {
  invocation().lines.error(printableLines(text));
}

/** Prints text that the caller styled, and in which what comes from outside is printable already. */
export function printEscaped(text: string): void {
  invocation().lines.log(text);
}

/** Sets how the command ends, unless it fails. */
export function endAs(ending: Ending): void {
  invocation().ending = ending;
}

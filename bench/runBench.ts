/** The frame of a bench: its flags, its temporary folder, its deadline and its exit code. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cleanup, cleanUpOnSignal, createCleanup } from './cleanup.ts';

/** Flags by name, with their defaults: none if it is undefined; a list can be repeated; false is for a switch. */
type Flags = Readonly<Record<string, string | readonly string[] | false | undefined>>;

export type Given<Own extends Flags> = {
  readonly [Name in keyof Own]: Own[Name] extends string
    ? string
    : Own[Name] extends readonly string[]
      ? readonly string[]
      : Own[Name] extends false
        ? boolean
        : string | undefined;
};

/** A command line that the bench cannot run: its message is all that its reader needs. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

export interface BenchParts {
  /** Temporary, and empty. */
  readonly folder: string;
  readonly cleanup: Cleanup;
}

interface Frame<Own extends Flags> {
  readonly help: string;
  /** Beside `--data-dir` and `--help`. */
  readonly flags: Own;
  /** What may be named beside flags. */
  readonly names?: readonly string[];
  readonly deadlineMs: number;
  /** @returns whether every target was reached */
  readonly run: (
    given: Given<Own>,
    parts: BenchParts,
    named: readonly string[],
  ) => Promise<boolean>;
}

/** Runs a bench. The exit code is 1 if a target was missed, or if something broke. */
export async function runBench<const Own extends Flags>(frame: Frame<Own>): Promise<void> {
  try {
    process.exitCode = (await runFramed(frame)) ? 0 : 1;
  } catch (error) {
    const isFlag = error instanceof FlagError;
    console.error('bench:', isFlag ? error.message : error instanceof Error ? error.stack : error);
    process.exitCode = 1;
  }
}

async function runFramed<const Own extends Flags>(frame: Frame<Own>): Promise<boolean> {
  const { values, positionals } = parse(frame);
  const named = readNames('this bench', positionals, frame.names ?? []);
  const { 'data-dir': parent = tmpdir(), help, ...given } = values;
  if (help) {
    console.log(frame.help);
    return true;
  }
  const cleanup = createCleanup();
  cleanUpOnSignal(cleanup, frame.deadlineMs);
  try {
    const folder = mkdtempSync(join(resolve(parent), 'tallyhook-bench-'));
    cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
    return await frame.run(given as unknown as Given<Own>, { folder, cleanup }, named);
  } finally {
    await cleanup.run();
  }
}

function parse({ flags, names }: Pick<Frame<Flags>, 'flags' | 'names'>) {
  try {
    return parseArgs({
      allowPositionals: names !== undefined,
      options: {
        ...Object.fromEntries(Object.entries(flags).map(([name, own]) => [name, flag(own)])),
        'data-dir': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error));
  }
}

function flag(standard: Flags[string]) {
  if (standard === false) return { type: 'boolean' as const, default: false };
  if (standard === undefined) return { type: 'string' as const };
  if (typeof standard === 'string') return { type: 'string' as const, default: standard };
  return { type: 'string' as const, multiple: true, default: [...standard] };
}

/** @throws FlagError for anything but a whole number from `least` to `most` */
export function readCount(
  name: string,
  text: string,
  least = 1,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= least && count <= most) return count;
  const limit = most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`;
  throw new FlagError(`${name} takes whole numbers from ${least}${limit}, not "${text}"`);
}

/** @throws FlagError for a name that is none of `names` */
export function readNames<Name extends string>(
  flag: string,
  given: readonly string[],
  names: readonly Name[],
): readonly Name[] {
  return given.map((text) => {
    const name = names.find((candidate) => candidate === text);
    if (name !== undefined) return name;
    throw new FlagError(`${flag} takes one of ${names.join(', ')}, not "${text}"`);
  });
}

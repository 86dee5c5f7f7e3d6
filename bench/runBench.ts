/** The frame of a bench: its flags, its temporary folder, its deadline and its exit code. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cleanup, cleanUpOnSignal, createCleanup } from './cleanup.ts';

/** Flags by name, with their defaults: none if it is undefined; a list can be repeated. */
type Flags = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Given<Own extends Flags> = {
  readonly [Name in keyof Own]: Own[Name] extends string
    ? string
    : Own[Name] extends readonly string[]
      ? readonly string[]
      : string | undefined;
};

export interface BenchParts {
  /** Temporary, and empty. */
  readonly folder: string;
  readonly cleanup: Cleanup;
}

interface Frame<Own extends Flags> {
  readonly help: string;
  /** Beside `--data-dir` and `--help`. */
  readonly flags: Own;
  readonly deadlineMs: number;
  /** @returns whether every target was reached */
  readonly run: (given: Given<Own>, parts: BenchParts) => Promise<boolean>;
}

/** Runs a bench. The exit code is 1 if a target was missed, or if something broke. */
export async function runBench<const Own extends Flags>(frame: Frame<Own>): Promise<void> {
  try {
    process.exitCode = (await runFramed(frame)) ? 0 : 1;
  } catch (error) {
    const isFlag = error instanceof RangeError;
    console.error('bench:', isFlag ? error.message : error instanceof Error ? error.stack : error);
    process.exitCode = 1;
  }
}

async function runFramed<const Own extends Flags>(frame: Frame<Own>): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(Object.entries(frame.flags).map(([name, own]) => [name, flag(own)])),
      'data-dir': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
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
    return await frame.run(given as unknown as Given<Own>, { folder, cleanup });
  } finally {
    await cleanup.run();
  }
}

function flag(standard: Flags[string]) {
  if (standard === undefined) return { type: 'string' as const };
  if (typeof standard === 'string') return { type: 'string' as const, default: standard };
  return { type: 'string' as const, multiple: true, default: [...standard] };
}

/** @throws RangeError for anything but a whole number from `least` */
export function readCount(name: string, text: string, least = 1): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new RangeError(`${name} takes whole numbers from ${least}, not "${text}"`);
}

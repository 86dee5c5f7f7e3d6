/** Compares what a command printed as JSON with what it declares (src/cli/outputs.ts). */
import { expect } from 'vitest';
import { failureSchema, wantsJson } from '../../src/cli/failure.ts';
import { COMMAND_OUTPUTS, type CommandOutput } from '../../src/cli/outputs.ts';

const seen = new Set<string>();

/** The commands with an output, not an error, that was compared, also by other files of this worker. */
export const seenOutputs: ReadonlySet<string> = seen;

export function forgetOutputs(): void {
  seen.clear();
}

export interface Printed {
  readonly code: number | null;
  readonly stdout: string;
}

/** Does nothing where no JSON was wanted. */
export function checkOutput(args: readonly string[], printed: Printed): void {
  if (args.some((argument) => /^(--help|-h|help|--version)$/.test(argument))) return;
  const name = nameOf(args);
  const output = name === undefined ? undefined : COMMAND_OUTPUTS[name];
  if (wantsJson(args) || printsJson(args, output, printed)) compare(args, name, printed);
}

/** Such a command prints its errors as text, and nothing where it writes a file. */
function printsJson(
  args: readonly string[],
  output: CommandOutput | undefined,
  { code, stdout }: Printed,
): boolean {
  if (output?.given === undefined || code !== 0 || stdout === '') return false;
  return output.given === 'always' || args.join(' ').includes(output.given);
}

function compare(
  args: readonly string[],
  name: string | undefined,
  { code, stdout }: Printed,
): void {
  const output = name === undefined ? undefined : COMMAND_OUTPUTS[name];
  const values = valuesOf(stdout, output, args);
  const others = values.filter((value) => !failureSchema.safeParse(value).success);
  // A command that fails prints its error last.
  if (code !== 0 && others.length < values.length && output?.form !== 'watched') {
    expect(failureSchema.safeParse(values.at(-1)).error, `the error of ${name}`).toBeUndefined();
  }
  if (others.length === 0) return;
  if (!output) throw new Error(`tallyhook ${args.join(' ')} declares no output: ${stdout}`);
  for (const value of others) {
    const problems = output.schema.safeParse(value).error;
    expect(
      problems,
      `tallyhook ${args.join(' ')} printed ${JSON.stringify(value)}`,
    ).toBeUndefined();
  }
  if (name !== undefined) seen.add(name);
}

function valuesOf(
  stdout: string,
  output: CommandOutput | undefined,
  args: readonly string[],
): readonly unknown[] {
  const isLines =
    output?.form === 'lines' || (output?.form === 'watched' && args.includes('--watch'));
  const texts = isLines ? stdout.split('\n').filter((line) => line !== '') : [stdout];
  return texts.map((text) => JSON.parse(text) as unknown);
}

/** The names of the command that the arguments name; undefined if there is none that prints JSON. */
function nameOf(args: readonly string[]): string | undefined {
  const words = args.filter((argument) => !argument.startsWith('-'));
  return [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => name in COMMAND_OUTPUTS);
}

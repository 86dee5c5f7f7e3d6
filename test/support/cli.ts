/** The command line, run in this process: loading it for each command took longer than the commands. */
import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import { checkOutput } from './commandOutput.ts';
import type { Exit, ProgramOptions } from './program.ts';

/**
 * Runs `tallyhook ...args` until it returns. It gets its own environment, as a process would. What it prints
 * with `--json` is compared with what it declares.
 */
export async function runTallyhook(
  args: readonly string[],
  { env = {}, input = '' }: ProgramOptions = {},
): Promise<Exit> {
  const [stdout, stderr] = [createOutput(), createOutput()];
  const terminal = { stdin: Readable.from([Buffer.from(input)]), stdout, stderr };
  const code = await run({ args, env, terminal });
  const exit = { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  checkOutput(args, exit);
  return exit;
}

/** Runs `tallyhook` with these arguments and a database. */
export function tallyhook(databaseUrl: string, ...args: readonly string[]): Promise<Exit> {
  return runTallyhook(args, { env: { DATABASE_URL: databaseUrl } });
}

/** Keeps what is written, as a file would. */
function createOutput(): Writable & { text(): string } {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(output, { text: () => Buffer.concat(chunks).toString('utf8') });
}

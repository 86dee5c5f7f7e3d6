/** Prompts for confirmation. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../platform/errors.ts';
import { printableLines } from '../platform/printable.ts';
import { terminal } from './invocation.ts';

/** Where to prompt; standard output is for the output of the command. */
export interface Dialogue {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * @param yes skips the question
 * @throws OperatorError without a terminal, or when the reply is not yes
 */
export async function confirm(
  question: string,
  yes: boolean,
  { input, output }: Dialogue = { input: terminal().stdin, output: terminal().stderr },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) {
    throw new OperatorError(`${question} There is no terminal for a prompt: use --yes.`);
  }
  const prompt = createInterface({ input, output });
  // Ctrl-C and Ctrl-D close the prompt, which means no.
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  try {
    const reply = await Promise.race([
      prompt.question(printableLines(`${question} [y/N] `)),
      closed,
    ]).catch(() => '');
    if (!/^y(es)?$/i.test(reply.trim())) throw new OperatorError('Nothing was done.');
  } finally {
    prompt.close();
  }
}

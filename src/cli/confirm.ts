/** Asks for confirmation. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../platform/errors.ts';

/** Where to ask; standard output is for the output of the command. */
export interface Dialogue {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * @param yes skips the question
 * @throws OperatorError without a terminal, or when the answer is not yes
 */
export async function confirm(
  question: string,
  yes: boolean,
  { input, output }: Dialogue = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) {
    throw new OperatorError(`${question} There is no terminal to ask on: use --yes.`);
  }
  const prompt = createInterface({ input, output });
  // Ctrl-C and Ctrl-D close the prompt, which means no.
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([prompt.question(`${question} [y/N] `), closed]).catch(
      () => '',
    );
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was done.');
  } finally {
    prompt.close();
  }
}

/** Asks a person whether to go on. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../platform/errors.ts';

/** Where a person reads and writes; standard output is for what a command has to say. */
export interface Dialogue {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * @param yes was given, so that nobody is asked
 * @throws OperatorError when nobody can be asked, or the answer is anything but yes
 */
export async function confirm(
  question: string,
  yes: boolean,
  { input, output }: Dialogue = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) {
    throw new OperatorError(`${question} Nobody can be asked here: give --yes.`);
  }
  const prompt = createInterface({ input, output });
  // Ctrl-C and Ctrl-D answer, too: they close the prompt.
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

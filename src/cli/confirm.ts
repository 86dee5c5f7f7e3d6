/** Asks a person whether to go on. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../platform/errors.ts';

/**
 * @param yes was given, so that nobody is asked
 * @throws OperatorError when nobody can be asked, or the answer is no
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw new OperatorError(`${question} Nobody can be asked here: give --yes.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was done.');
  } finally {
    prompt.close();
  }
}

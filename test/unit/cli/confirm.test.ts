import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from '../../../src/cli/confirm.ts';
import { OperatorError } from '../../../src/platform/errors.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** A terminal at which a person types this at the prompt. */
function terminal(typed: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  output.once('data', () => input.write(typed));
  return { input, output };
}

test.each(['y\n', 'Y\n', ' yes \n'])('%j continues', async (typed) => {
  await confirm('Capture it?', false, terminal(typed));
});

test.each(['n\n', '\n', 'yesterday\n', CTRL_C, CTRL_D, `y${CTRL_C}`])(
  '%j does nothing and reports that in a sentence',
  async (typed) => {
    const refusal = confirm('Capture it?', false, terminal(typed));
    await expect(refusal).rejects.toThrow(new OperatorError('Nothing was done.'));
  },
);

test('without a terminal for the prompt, nothing is done without --yes', async () => {
  const pipe = { input: new PassThrough(), output: new PassThrough() };
  await expect(confirm('Capture it?', false, pipe)).rejects.toThrow('use --yes');
  await confirm('Capture it?', true, pipe);
});

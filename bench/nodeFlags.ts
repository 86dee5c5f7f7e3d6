/** Flags of Node for what is measured: those under which the Procfile starts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';

/** For example `['--max-semi-space-size=32']` for `receiver`. */
export function nodeFlags(process: string): readonly string[] {
  const text = readFileSync(join(packageRoot(), 'Procfile'), 'utf8');
  const command = text.split('\n').find((line) => line.startsWith(`${process}: node `));
  if (command === undefined) throw new Error(`the Procfile does not start ${process} with node`);
  return command.split(' ').filter((word) => word.startsWith('--'));
}

/** The process of the command line: its arguments, its terminal and its exit code. */
import { exitWith } from '../platform/shutdown.ts';
import { run } from './run.ts';

try {
  process.exitCode = await run({ args: process.argv.slice(2), terminal: process });
} catch (error) {
  exitWith(error);
}

/** The process of the command line: its arguments, its terminal and its exit code. */
import { endWith } from '../platform/shutdown.ts';
import { run } from './run.ts';

// A reader such as `head` may close its pipe early. What is left has no reader, so the command ends, as one
// that SIGPIPE ends; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

endWith(await run({ args: process.argv.slice(2), terminal: process }));

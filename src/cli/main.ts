/** The process of the command line: its arguments, its terminal and its exit code. */
import { continueWhenUnread, endWhenUnread, endWith } from '../platform/shutdown.ts';
import { run } from './run.ts';

endWhenUnread(process.stdout);
continueWhenUnread(process.stderr);
endWith(await run({ args: process.argv.slice(2), terminal: process }));

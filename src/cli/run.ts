/** Runs one command. Commands parse arguments, call features and print. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../platform/packageRoot.ts';
import { COMMANDS } from './commands/index.ts';
import { type Invocation, invocation, type Terminal, withInvocation } from './invocation.ts';
import { permissionOf } from './permissions.ts';

/** Columns of help that does not go to a terminal. */
const FILE_WIDTH = 80;

/**
 * Nothing of it remains when it returns, except of commands that run until a signal: those end with their
 * process.
 * @returns the exit code
 * @throws what a command throws; OperatorError has a message for the person who runs it
 */
export function run(given: Invocation): Promise<number> {
  return withInvocation(given, async () => {
    const program = await load(given.args);
    await program.parseAsync(given.args, { from: 'user' }).catch((error: unknown) => {
      // Already printed: help, or arguments that are not valid.
      if (!(error instanceof CommanderError)) throw error;
      invocation().exitCode = error.exitCode;
    });
  });
}

async function load(args: readonly string[]): Promise<Command> {
  /** The command named by the arguments; also in `tallyhook help <command>`. */
  const [named] = args.filter((argument) => !/^(-|help$)/.test(argument));
  const program = new Command('tallyhook')
    .description('Keeps a local order ledger equal to the payment service, to the cent.')
    .version(packageVersion())
    .showHelpAfterError('(tallyhook <command> --help lists the options)')
    .hook('preAction', (_program, command) => authorize(pathOf(command, program)));
  for (const { name, description, load: loadCommand } of COMMANDS) {
    // The others are only names in the help and in "did you mean".
    const command = name === named ? await loadCommand() : new Command(name);
    program.addCommand(command.description(description));
  }
  printTo(invocation().terminal, program);
  return program;
}

/** Has a command and those below it print to a terminal, and throw instead of ending the process. */
function printTo(terminal: Terminal, command: Command): void {
  const { stdout, stderr } = terminal;
  command.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => stdout.columns ?? FILE_WIDTH,
    getErrHelpWidth: () => stderr.columns ?? FILE_WIDTH,
  });
  for (const child of command.commands) printTo(terminal, child);
}

async function authorize(path: string): Promise<void> {
  const needed = permissionOf(path);
  if (needed === 'local') return;
  // Settings are read only for a token: `doctor` reports those that are invalid.
  const { readSettings, readConfig } = await import('./context.ts');
  if (!readSettings().TALLYHOOK_TOKEN) return;
  const { authorizeCommand } = await import('./authorize.ts');
  await authorizeCommand(path, needed, readConfig());
}

/** The names of a command and its parents, such as `orders list`. */
function pathOf(command: Command, program: Command): string {
  const { parent } = command;
  return parent === null || parent === program
    ? command.name()
    : `${pathOf(parent, program)} ${command.name()}`;
}

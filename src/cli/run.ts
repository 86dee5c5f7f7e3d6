/** Runs one command. Commands parse arguments, call features and print. */
import { Command, CommanderError } from 'commander';
import { InexactSum } from '../contract/money.ts';
import { OperatorError } from '../platform/errors.ts';
import { packageVersion } from '../platform/packageRoot.ts';
import { printableLines } from '../platform/printable.ts';
import { printableJson } from '../platform/printableJson.ts';
import { failureText } from '../platform/shutdown.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT_CODES } from './exitCodes.ts';
import { classOf, failureJson, wantsJson } from './failure.ts';
import {
  endAs,
  type Invocation,
  invocation,
  printEscaped,
  type Terminal,
  withInvocation,
} from './invocation.ts';
import { permissionOf } from './permissions.ts';

/** Columns of help that does not go to a terminal. */
const FILE_WIDTH = 80;

/**
 * Nothing of it remains when it returns, except of commands that run until a signal: those end with their
 * process.
 * @returns the exit code
 */
export function run(given: Invocation): Promise<number> {
  return withInvocation(given, async () => {
    try {
      const program = await load(given.args);
      await program.parseAsync(given.args, { from: 'user' });
    } catch (error) {
      report(error instanceof InexactSum ? explainSum(error) : error);
    }
  });
}

function explainSum({ message }: InexactSum): OperatorError {
  return new OperatorError(`${message} Without --json the command prints it exactly.`);
}

/** Prints why the command failed, and sets the exit code. */
function report(error: unknown): void {
  const { args, terminal } = invocation();
  const isUsage = error instanceof CommanderError;
  // `--help` and `--version` end this way, too.
  if (isUsage && error.exitCode === 0) return;
  endAs(classOf(error));
  // Commander has printed its own errors.
  if (!isUsage) terminal.stderr.write(failureText(error));
  if (wantsJson(args)) printEscaped(printableJson(JSON.stringify(failureJson(error))));
}

async function load(args: readonly string[]): Promise<Command> {
  /** The command named by the arguments; also in `tallyhook help <command>`. */
  const [named] = args.filter((argument) => !/^(-|help$)/.test(argument));
  const program = new Command('tallyhook')
    .description('Keeps a local order ledger equal to the payment service, to the cent.')
    .version(packageVersion())
    .addHelpText('after', exitCodesText)
    .showHelpAfterError('(tallyhook <command> --help lists the options)')
    .hook('preAction', (_program, command) => authorize(pathOf(command, program)));
  for (const { name, description, load: loadCommand } of COMMANDS) {
    // The others are only names in the help and in "did you mean".
    const command = name === named ? await loadCommand() : new Command(name);
    program.addCommand(command.description(description));
  }
  printTo(invocation().terminal, program);
  pointToHelp(program, 'tallyhook');
  return program;
}

/** The exit codes, at the end of the help. */
function exitCodesText(): string {
  const codes = Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${code}  ${meaning}`);
  return `\nExit codes:\n${codes.join('\n')}`;
}

/** Has a command and those below it print to a terminal, and throw instead of ending the process. */
function printTo(terminal: Terminal, command: Command): void {
  const { stdout, stderr } = terminal;
  command.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(printableLines(text)),
    writeErr: (text) => stderr.write(printableLines(text)),
    getOutHelpWidth: () => stdout.columns ?? FILE_WIDTH,
    getErrHelpWidth: () => stderr.columns ?? FILE_WIDTH,
  });
  for (const child of command.commands) printTo(terminal, child);
}

/** Has a mistake in the arguments of a command end with the command that lists them. */
function pointToHelp(command: Command, path: string): void {
  for (const child of command.commands) {
    const childPath = `${path} ${child.name()}`;
    child.showHelpAfterError(`(${childPath} --help lists its arguments and options)`);
    pointToHelp(child, childPath);
  }
}

async function authorize(path: string): Promise<void> {
  const needed = permissionOf(path);
  if (needed === 'local') return;
  // Settings are read only for a token: `doctor` reports those that are invalid.
  const { readSettings, readConfig } = await import('./context.ts');
  const { TALLYHOOK_TOKEN, TALLYHOOK_TOKEN_FILE } = readSettings();
  if (!TALLYHOOK_TOKEN && !TALLYHOOK_TOKEN_FILE) return;
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

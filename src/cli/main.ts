/** The command line: `tallyhook <command>`. Commands parse arguments, call features and print. */
import { Command } from 'commander';
import { exitWith } from '../platform/shutdown.ts';
import { COMMANDS } from './commands/index.ts';
import { permissionOf } from './permissions.ts';

/** The command named by the arguments; also in `tallyhook help <command>`. */
const [named] = process.argv.slice(2).filter((argument) => !/^(-|help$)/.test(argument));

const program = new Command('tallyhook')
  .description('Keeps a local order ledger equal to the payment service, to the cent.')
  .showHelpAfterError('(tallyhook <command> --help lists the options)')
  .hook('preAction', async (_program, command) => {
    const path = pathOf(command);
    const needed = permissionOf(path);
    if (needed === 'local') return;
    // Settings are read only for a token: `doctor` reports those that are invalid.
    const { readEnvironment } = await import('../config/config.ts');
    if (!readEnvironment().TALLYHOOK_TOKEN) return;
    const [{ authorizeCommand }, { readConfig }] = await Promise.all([
      import('./authorize.ts'),
      import('./context.ts'),
    ]);
    await authorizeCommand(path, needed, readConfig());
  });

try {
  for (const { name, description, load } of COMMANDS) {
    // The others are only names in the help and in "did you mean".
    const command = name === named ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  await program.parseAsync();
} catch (error) {
  exitWith(error);
}

/** The names of a command and its parents, such as `orders list`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent === program
    ? command.name()
    : `${pathOf(parent)} ${command.name()}`;
}

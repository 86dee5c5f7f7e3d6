/** The command line: `tallyhook <command>`. Commands parse arguments, call features and print. */
import { Command } from 'commander';
import { exitWith } from '../platform/shutdown.ts';
import { alertsCommand } from './commands/alerts.ts';
import { authorizationsCommand } from './commands/authorizations.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eventsCommand } from './commands/events.ts';
import { exportCommand } from './commands/export.ts';
import { findCommand } from './commands/find.ts';
import { findingsCommand } from './commands/findings.ts';
import { migrateCommand } from './commands/migrate.ts';
import { ordersCommand } from './commands/orders.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { refreshCommand } from './commands/refresh.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { sendCommand } from './commands/send.ts';
import { signCommand } from './commands/sign.ts';
import { startCommand } from './commands/start.ts';
import { verifyCommand } from './commands/verify.ts';

const program = new Command('tallyhook')
  .description('Keeps a local order ledger equal to the payment service, to the cent.')
  .showHelpAfterError('(tallyhook <command> --help lists the options)')
  .addCommand(startCommand())
  .addCommand(demoCommand())
  .addCommand(sandboxCommand())
  .addCommand(migrateCommand())
  .addCommand(signCommand())
  .addCommand(sendCommand())
  .addCommand(ordersCommand())
  .addCommand(eventsCommand())
  .addCommand(findCommand())
  .addCommand(alertsCommand())
  .addCommand(authorizationsCommand())
  .addCommand(alertsCommand())
  .addCommand(reconcileCommand())
  .addCommand(refreshCommand())
  .addCommand(findingsCommand())
  .addCommand(doctorCommand())
  .addCommand(pauseCommand())
  .addCommand(resumeCommand())
  .addCommand(exportCommand())
  .addCommand(verifyCommand());

try {
  await program.parseAsync();
} catch (error) {
  exitWith(error);
}

import { Command } from 'commander';
import {
  acknowledgeAlertCommand,
  listAlertsCommand,
  showAlertCommand,
  snoozeAlertCommand,
} from './alertsInHand.ts';

export function alertsCommand(): Command {
  return new Command('alerts')
    .description('what a person must know, with its state')
    .addCommand(listAlertsCommand())
    .addCommand(showAlertCommand())
    .addCommand(acknowledgeAlertCommand())
    .addCommand(snoozeAlertCommand());
}

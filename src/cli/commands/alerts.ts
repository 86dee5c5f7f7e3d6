/** Commands that list, show, acknowledge, snooze and assign alerts. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { acknowledgeAlertAs, assignAlertAs, snoozeAlertAs } from '../../actions/actOnAlert.ts';
import { type ChangedAlert, LONGEST_SNOOZE_MS } from '../../alerts/actOnAlert.ts';
import { RULES, type Rule, SEVERITIES, type Severity } from '../../alerts/domain/alert.ts';
import { type AlertRow, readAlert, searchAlerts } from '../../alerts/store/alertRows.ts';
import { NotFoundError, OperatorError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time.ts';
import { alertJson } from '../../representation/alert.ts';
import { detailJson } from '../../representation/detail.ts';
import { formatTime } from '../../representation/time.ts';
import { clockOf, printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, limitOption, readNumberOf } from '../options.ts';
import { cursorOption, type PageOptions, printSearched, searchPage } from '../paging.ts';
import { actorOf, byOption, optionalReason, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';
import { testChannelsCommand } from './testChannels.ts';

export function alertsCommand(): Command {
  return new Command('alerts')
    .addCommand(listAlertsCommand())
    .addCommand(showAlertCommand())
    .addCommand(acknowledgeAlertCommand())
    .addCommand(snoozeAlertCommand())
    .addCommand(assignAlertCommand())
    .addCommand(testChannelsCommand());
}

interface ListOptions extends PageOptions {
  readonly all: boolean;
  readonly severity?: Severity;
  readonly rule?: Rule;
}

function listAlertsCommand(): Command {
  return new Command('list')
    .description('list unresolved alerts, newest first')
    .option('--all', 'include resolved alerts', false)
    .addOption(
      new Option('--severity <severity>', 'only alerts of this severity').choices(SEVERITIES),
    )
    .addOption(new Option('--rule <rule>', 'only alerts of this rule').choices(RULES))
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action(({ all, severity, rule, ...page }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const states = all ? undefined : (['open', 'acknowledged'] as const);
        const filter = { states, severity, rule };
        const found = await searchPage(page, (place) => searchAlerts(db, filter, place));
        printSearched(found, page, {
          name: 'alerts',
          toJson: alertJson,
          print: printAlerts,
          none: 'No such alerts.',
        });
      }),
    );
}

function printAlerts(alerts: readonly AlertRow[]): void {
  printTable(
    ['NUMBER', 'SEVERITY', 'STATE', 'RULE', 'OPEN SINCE', 'ALERT'],
    alerts.map((alert) => [
      String(alert.id),
      alert.severity,
      stateOf(alert),
      alert.rule,
      formatTime(alert.openedAt),
      alert.sentence,
    ]),
  );
}

/** A snooze that has ended is cleared when the next notification is sent, at most a minute later. */
function stateOf({ state, snoozedUntil }: AlertRow): string {
  return state !== 'resolved' && snoozedUntil !== null ? `${state}, snoozed` : state;
}

function showAlertCommand(): Command {
  return new Command('show')
    .description('show one alert: its subject, the next step, and who handles it')
    .argument('<number>', NUMBER_HELP, readNumberOf('an alert'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 no such alert.')
    .action((id: number, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const alert = await readAlert(db, id);
        if (!alert) throw unknownAlert(id);
        if (json) printJson(alertJson(alert));
        else printAlert(alert);
      }),
    );
}

const NUMBER_HELP = 'number of the alert, from `tallyhook alerts list`';

function printAlert(alert: AlertRow): void {
  const about = [
    `${alert.rule} (${alert.severity}, ${stateOf(alert)}) about ${alert.subject}`,
    alert.sentence,
    `Next: ${alert.nextStep}`,
    ...(alert.orderId === null ? [] : [`Order: ${alert.orderId}`]),
    ...(alert.paymentId === null ? [] : [`Payment: ${alert.paymentId}`]),
    ...(alert.deadlineAt === null ? [] : [`Deadline: ${formatTime(alert.deadlineAt)}`]),
    `Open since: ${formatTime(alert.openedAt)}`,
    ...(alert.acknowledgedAt === null
      ? []
      : [
          `Acknowledged by ${alert.acknowledgedBy}, ${formatTime(alert.acknowledgedAt)}: ${alert.acknowledgedReason}`,
        ]),
    ...(alert.snoozedUntil === null
      ? []
      : [
          `Snoozed until ${formatTime(alert.snoozedUntil)} by ${alert.snoozedBy}${alert.snoozedReason === null ? '' : `: ${alert.snoozedReason}`}`,
        ]),
    ...(alert.assignedTo === null
      ? []
      : [
          `Assigned to ${alert.assignedTo} by ${alert.assignedBy}, ${formatTime(alert.assignedAt)}: ${alert.assignedReason}`,
        ]),
    ...(alert.resolvedAt === null ? [] : [`Resolved: ${formatTime(alert.resolvedAt)}`]),
    `Details: ${JSON.stringify(detailJson(alert.detail))}`,
  ];
  for (const line of about) printLine(line);
}

interface AcknowledgeOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function acknowledgeAlertCommand(): Command {
  return new Command('ack')
    .description('acknowledge an open alert: notifications about it stop')
    .argument('<number>', NUMBER_HELP, readNumberOf('an alert'))
    .addOption(reasonOption('what is being done about it; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe alert resolves by itself when its condition ends. You are notified again only if it becomes more severe. An alert about something final, such as a lost dispute, is resolved by this command.\n\nExit code: 0 acknowledged, 3 there is no such alert, 4 it is not open.',
    )
    .action((id: number, { reason, by, json }: AcknowledgeOptions) =>
      withDatabase(readConfig(), async (db) => {
        const actor = actorOf(by);
        const input = { number: id, reason };
        const acknowledged = await acknowledgeAlertAs({ db }, actor, input);
        switch (acknowledged.outcome) {
          case 'done':
            if (json) printJson(alertJson(acknowledged.alert));
            else printLine(`Alert ${id} is acknowledged by ${actor.name}.`);
            return;
          case 'unknown':
            throw unknownAlert(id);
          case 'resolved':
            throw resolvedAlert(acknowledged.alert);
          case 'already': {
            const { acknowledgedAt, acknowledgedBy, acknowledgedReason } = acknowledged.alert;
            throw new OperatorError(
              printable(
                `Alert ${id} is already acknowledged by ${acknowledgedBy}, ${formatTime(acknowledgedAt)}: ${acknowledgedReason}. Nothing was changed.`,
              ),
            );
          }
        }
      }),
    );
}

interface SnoozeOptions {
  readonly for: number;
  readonly reason?: string;
  readonly by?: string;
  readonly json: boolean;
}

function snoozeAlertCommand(): Command {
  return new Command('snooze')
    .description('mute an alert for a while')
    .argument('<number>', NUMBER_HELP, readNumberOf('an alert'))
    .addOption(
      new Option('--for <time>', 'how long to mute it, such as 30m, 4h or 2d; 30d at most')
        .argParser(parseSpanMs)
        .makeOptionMandatory(),
    )
    .addOption(optionalReason('why it can wait; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIf the alert is still unresolved then, you are notified once. Another snooze replaces the first.\n\nExit code: 0 snoozed, 3 there is no such alert, 4 it is resolved.',
    )
    .action((id: number, { for: spanMs, reason, by, json }: SnoozeOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { nowMs } = await clockOf(db);
        const until = new Date(nowMs() + spanMs);
        const input = { number: id, until, reason };
        const alert = changedAlert(id, await snoozeAlertAs({ db }, actorOf(by), input));
        if (json) printJson(alertJson(alert));
        else printLine(`Alert ${id} is muted until ${formatTime(until)}.`);
      }),
    );
}

interface AssignOptions {
  readonly to?: string;
  readonly nobody: boolean;
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function assignAlertCommand(): Command {
  return new Command('assign')
    .description('name the person who is to handle an alert')
    .argument('<number>', NUMBER_HELP, readNumberOf('an alert'))
    .option('--to <name>', 'the person')
    .option('--nobody', 'withdraw the assignment', false)
    .addOption(reasonOption('why; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nAnother assignment replaces the first. Notifications continue as before.\n\nExit code: 0 assigned, 3 there is no such alert, 4 it is resolved.',
    )
    .action((id: number, { to: name, nobody, reason, by, json }: AssignOptions) =>
      withDatabase(readConfig(), async (db) => {
        const to = name?.trim();
        if ((to === undefined || to === '') !== nobody) {
          throw new UsageError('Name one person: --to NAME, or --nobody.');
        }
        const input = { number: id, to: nobody ? undefined : to, reason };
        const alert = changedAlert(id, await assignAlertAs({ db }, actorOf(by), input));
        if (json) printJson(alertJson(alert));
        else printLine(`Alert ${id} is assigned to ${to ?? 'nobody'}.`);
      }),
    );
}

function changedAlert(id: number, result: ChangedAlert): AlertRow {
  switch (result.outcome) {
    case 'done':
      return result.alert;
    case 'unknown':
      throw unknownAlert(id);
    case 'resolved':
      throw resolvedAlert(result.alert);
  }
}

function unknownAlert(id: number): OperatorError {
  return new NotFoundError(
    `There is no alert ${id}. \`npx tallyhook alerts list --all\` lists all alerts.`,
  );
}

function resolvedAlert({ id, resolvedAt }: AlertRow): OperatorError {
  return new OperatorError(
    `Alert ${id} was resolved at ${formatTime(resolvedAt)}. Nothing was changed.`,
  );
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};

function parseSpanMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const spanMs = Number(count) * (UNITS_MS[unit] ?? 0);
  if (spanMs <= 0 || spanMs > LONGEST_SNOOZE_MS) {
    throw new InvalidArgumentError(
      'Give minutes, hours or days, such as 30m, 4h or 2d; 30d at most.',
    );
  }
  return spanMs;
}

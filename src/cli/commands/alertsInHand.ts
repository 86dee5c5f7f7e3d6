/** Commands that look at alerts and act on them. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { acknowledgeAlert, LONGEST_SNOOZE_MS, snoozeAlert } from '../../alerts/actOnAlert.ts';
import { RULES, type Rule, SEVERITIES, type Severity } from '../../alerts/domain/alert.ts';
import { type AlertRow, readAlert, readAlertRows } from '../../alerts/store/alertRows.ts';
import { OperatorError } from '../../platform/errors.ts';
import { alertJson } from '../../representation/alert.ts';
import { detailJson } from '../../representation/detail.ts';
import { clockOf, formatTime, printable, printJson, readConfig, withDatabase } from '../context.ts';
import { jsonOption, limitOption } from '../options.ts';
import { byOption, personOf } from '../person.ts';
import { printTable } from '../table.ts';

interface ListOptions {
  readonly all: boolean;
  readonly severity?: Severity;
  readonly rule?: Rule;
  readonly limit: number;
  readonly json: boolean;
}

export function listAlertsCommand(): Command {
  return new Command('list')
    .description('alerts that are not resolved, newest first')
    .option('--all', 'resolved ones, too', false)
    .addOption(new Option('--severity <severity>', 'only of this severity').choices(SEVERITIES))
    .addOption(new Option('--rule <rule>', 'only of this rule').choices(RULES))
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0, whatever stands.')
    .action(({ all, severity, rule, limit, json }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const alerts = await readAlertRows(db, {
          states: all ? undefined : ['open', 'acknowledged'],
          severity,
          rule,
          below: Number.MAX_SAFE_INTEGER,
          limit,
        });
        if (json) printJson({ alerts: alerts.map(alertJson) });
        else if (alerts.length === 0) console.log('No such alerts.');
        else printAlerts(alerts);
      }),
    );
}

function printAlerts(alerts: readonly AlertRow[]): void {
  printTable(
    ['NUMBER', 'SEVERITY', 'STATE', 'RULE', 'SINCE', 'SENTENCE'],
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

/** A snooze that is over is cleared when the alert is said again, at most a minute later. */
function stateOf({ state, snoozedUntil }: AlertRow): string {
  return state !== 'resolved' && snoozedUntil !== null ? `${state}, snoozed` : state;
}

export function showAlertCommand(): Command {
  return new Command('show')
    .description('one alert: what it is about, what to do, and who deals with it')
    .argument('<number>', NUMBER_HELP, parseNumber)
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 1 no such alert.')
    .action((id: number, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const alert = await readAlert(db, id);
        if (!alert) throw unknownAlert(id);
        if (json) printJson(alertJson(alert));
        else printAlert(alert);
      }),
    );
}

const NUMBER_HELP = 'its number, as `tallyhook alerts list` shows it';

function printAlert(alert: AlertRow): void {
  const about = [
    `${alert.rule} (${alert.severity}, ${stateOf(alert)}) about ${alert.subject}`,
    alert.sentence,
    `Next: ${alert.nextStep}`,
    ...(alert.orderId === null ? [] : [`Order: ${alert.orderId}`]),
    ...(alert.paymentId === null ? [] : [`Payment: ${alert.paymentId}`]),
    ...(alert.deadlineAt === null ? [] : [`Deadline: ${formatTime(alert.deadlineAt)}`]),
    `Since: ${formatTime(alert.openedAt)}`,
    ...(alert.acknowledgedAt === null
      ? []
      : [
          `Acknowledged by ${alert.acknowledgedBy}, ${formatTime(alert.acknowledgedAt)}: ${alert.acknowledgedReason}`,
        ]),
    ...(alert.snoozedUntil === null
      ? []
      : [`Snoozed until ${formatTime(alert.snoozedUntil)} by ${alert.snoozedBy}`]),
    ...(alert.resolvedAt === null ? [] : [`Resolved: ${formatTime(alert.resolvedAt)}`]),
    `Facts: ${JSON.stringify(detailJson(alert.detail))}`,
  ];
  for (const line of about) console.log(printable(line));
}

interface AcknowledgeOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

export function acknowledgeAlertCommand(): Command {
  return new Command('ack')
    .description('say that somebody deals with an open alert: it is not said again')
    .argument('<number>', NUMBER_HELP, parseNumber)
    .requiredOption('--reason <text>', 'what is done about it, for whoever asks later')
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIt ends by itself when its condition does, and is said again only if it grows more severe. What is final, such as a lost dispute, ends with this.\n\nExit code: 0 acknowledged, 1 there is no such open alert.',
    )
    .action((id: number, { reason, by, json }: AcknowledgeOptions) =>
      withDatabase(readConfig(), async (db) => {
        if (reason.trim() === '') throw new OperatorError('Give a reason: --reason "…".');
        const who = { by: personOf(by), reason: reason.trim() };
        const acknowledged = await acknowledgeAlert(db, id, who);
        switch (acknowledged.outcome) {
          case 'done':
            if (json) printJson(alertJson(acknowledged.alert));
            else console.log(`Alert ${id} is acknowledged by ${printable(who.by)}.`);
            return;
          case 'unknown':
            throw unknownAlert(id);
          case 'resolved':
            throw resolvedAlert(acknowledged.alert);
          case 'already': {
            const { acknowledgedAt, acknowledgedBy, acknowledgedReason } = acknowledged.alert;
            throw new OperatorError(
              printable(
                `Alert ${id} was acknowledged before by ${acknowledgedBy}, ${formatTime(acknowledgedAt)}: ${acknowledgedReason}. Nothing was changed.`,
              ),
            );
          }
        }
      }),
    );
}

interface SnoozeOptions {
  readonly for: number;
  readonly by?: string;
  readonly json: boolean;
}

export function snoozeAlertCommand(): Command {
  return new Command('snooze')
    .description('have nothing said of an alert for a while')
    .argument('<number>', NUMBER_HELP, parseNumber)
    .addOption(
      new Option('--for <time>', 'how long, such as 30m, 4h or 2d; 30d at most')
        .argParser(parseSpanMs)
        .makeOptionMandatory(),
    )
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIf it still stands then, it is said once. Another snooze takes the place of the first.\n\nExit code: 0 snoozed, 1 there is no such alert, or it is resolved.',
    )
    .action((id: number, { for: spanMs, by, json }: SnoozeOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { nowMs } = await clockOf(db);
        const until = new Date(nowMs() + spanMs);
        const snoozed = await snoozeAlert(db, id, { by: personOf(by), until });
        switch (snoozed.outcome) {
          case 'done':
            if (json) printJson(alertJson(snoozed.alert));
            else console.log(`Nothing is said of alert ${id} until ${formatTime(until)}.`);
            return;
          case 'unknown':
            throw unknownAlert(id);
          case 'resolved':
            throw resolvedAlert(snoozed.alert);
        }
      }),
    );
}

function unknownAlert(id: number): OperatorError {
  return new OperatorError(
    `There is no alert ${id}. \`npx tallyhook alerts list --all\` shows their numbers.`,
  );
}

function resolvedAlert({ id, resolvedAt }: AlertRow): OperatorError {
  return new OperatorError(
    `Alert ${id} was resolved ${formatTime(resolvedAt)}: no more is said of it.`,
  );
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < 1) {
    throw new InvalidArgumentError('Give the number of an alert, such as 12.');
  }
  return number;
}

const MINUTE_MS = 60_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
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

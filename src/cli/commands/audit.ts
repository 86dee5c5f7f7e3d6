import { Command, InvalidArgumentError, Option } from 'commander';
import { closeAttemptAs } from '../../actions/closeAttempt.ts';
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditSubject,
  FINAL_RESULTS,
  type FinalResult,
} from '../../audit/domain/entry.ts';
import { parseSubject } from '../../audit/domain/subject.ts';
import { type AuditRow, searchAudit } from '../../audit/store/audit.ts';
import { orderKeysNamed } from '../../ledger/domain/orderKey.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { auditEntryJson } from '../../representation/audit.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, limitOption, momentOption, readNumberOf } from '../options.ts';
import { cursorOption, type PageOptions, printSearched, searchPage } from '../paging.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function auditCommand(): Command {
  return new Command('audit').addCommand(listCommand()).addCommand(closeCommand());
}

interface ListOptions extends PageOptions {
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly subject?: AuditSubject;
  readonly order?: string;
  /** Microseconds since 1970. */
  readonly since?: number;
  /** Microseconds since 1970. */
  readonly before?: number;
  readonly open: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('list who did what, newest first')
    .option('--actor <name>', 'only actions of this person, token or user of a process')
    .addOption(new Option('--action <action>', 'only this action').choices(AUDIT_ACTIONS))
    .addOption(
      new Option(
        '--subject <subject>',
        'only actions on this, for example payment:pay_1, finding:12 or event:7',
      ).argParser(readSubject),
    )
    .option('--order <id>', 'only actions on this order and its parts')
    .addOption(momentOption('--since', 'only entries recorded at or after this time'))
    .addOption(momentOption('--before', 'only entries recorded before this time'))
    .option('--open', 'only attempts without a result: running, or of unknown outcome', false)
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
A call to the service has two entries with the same attempt: \`requested\` before it, the result after.
An attempt without a result is running, or its process ended before the response: check the payment.

Exit code: 0.`,
    )
    .action((options: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { actor, action, subject, order, since, before, open, ...page } = options;
        const filter = {
          actor,
          action,
          subject,
          orderKeys: order === undefined ? undefined : orderKeysNamed(order),
          since: since === undefined ? undefined : new Date(since / 1000),
          before: before === undefined ? undefined : new Date(before / 1000),
          isOpen: open,
        };
        const found = await searchPage(page, (place) => searchAudit(db, filter, place));
        printSearched(found, page, {
          name: 'entries',
          toJson: auditEntryJson,
          print: printEntries,
          none: 'No such entries.',
        });
      }),
    );
}

function readSubject(text: string): AuditSubject {
  const subject = parseSubject(text);
  if (subject) return subject;
  throw new InvalidArgumentError('Give a kind and an id, such as payment:pay_1.');
}

function printEntries(rows: readonly AuditRow[]): void {
  printTable(
    ['NUMBER', 'TIME', 'WHO', 'FROM', 'ACTION', 'SUBJECT', 'RESULT', 'ATTEMPT', 'REASON'],
    rows.map((row) => [
      String(row.id),
      formatTime(row.recordedAt),
      `${row.actorName} (${row.actorRole})`,
      row.actorOrigin,
      row.action,
      `${row.subjectKind}:${row.subjectId}`,
      row.result,
      row.attempt === null ? '-' : String(row.attempt),
      row.reason ?? '-',
    ]),
  );
}

interface CloseOptions {
  readonly outcome: FinalResult;
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function closeCommand(): Command {
  return new Command('close')
    .description('record what became of an attempt without a result')
    .argument(
      '<number>',
      'number of the attempt, from `tallyhook audit list --open`',
      readNumberOf('an attempt'),
    )
    .addOption(
      new Option('--outcome <outcome>', 'what became of it')
        .choices(FINAL_RESULTS)
        .makeOptionMandatory(),
    )
    .addOption(reasonOption('how you know; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
The entry is added to the attempt; nothing is changed, and nothing is sent to the service. Run
\`tallyhook refresh\` with the id of the payment first, and compare.

Exit code: 0 closed, 3 there is no such attempt, 4 it has a result, or may still be running.`,
    )
    .action((number: number, { outcome, reason, by, json }: CloseOptions) =>
      withDatabase(readConfig(), async (db) => {
        const actor = actorOf(by);
        const input = { number, result: outcome, reason };
        const closed = await closeAttemptAs({ db }, actor, input);
        if (closed.outcome === 'unknown') throw new NotFoundError(REFUSALS.unknown(number));
        if (closed.outcome !== 'closed') throw new OperatorError(REFUSALS[closed.outcome](number));
        if (json) printJson({ closed: number, outcome, by: actor.name, reason });
        else printLine(`Attempt ${number} is closed by ${actor.name}: ${outcome}.`);
      }),
    );
}

const REFUSALS = {
  unknown: (number: number) =>
    `There is no attempt ${number}. \`npx tallyhook audit list --open\` lists attempts without a result.`,
  already: (number: number) => `Attempt ${number} has a result. Nothing was changed.`,
  running: (number: number) =>
    `Attempt ${number} began less than five minutes ago and may still be running. Try again later.`,
} as const;

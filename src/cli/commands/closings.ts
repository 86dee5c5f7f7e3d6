import { Argument, Command, InvalidArgumentError } from 'commander';
import { closePeriodAs, reopenPeriodAs } from '../../actions/closePeriod.ts';
import type { Closing } from '../../ledger/domain/closings.ts';
import { isMonth } from '../../ledger/domain/period.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { readClosings } from '../../ledger/read/store/closings.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import {
  closedText,
  closingJson,
  exceptionText,
  reopenedText,
  unprovenText,
} from '../../representation/closing.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, optionalTimeZone } from '../options.ts';
import { actorOf, byOption, optionalReason, reasonOption } from '../person.ts';
import { withElapsed } from '../progress.ts';
import { printTable } from '../table.ts';

function monthArgument(): Argument {
  return new Argument('<month>', 'such as 2026-10').argParser((text) => {
    if (isMonth(text)) return text;
    throw new InvalidArgumentError('Give a month such as 2026-10.');
  });
}

interface CloseOptions {
  readonly timeZone?: string;
  readonly withExceptions: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly json: boolean;
}

export function closeCommand(): Command {
  return new Command('close')
    .addArgument(monthArgument())
    .addOption(optionalTimeZone())
    .option('--with-exceptions', 'close it although something is unproven, and store what', false)
    .addOption(optionalReason('why you close it in spite of its exceptions'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', CLOSE_NOTES)
    .action((month: string, options: CloseOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { timeZone, withExceptions, reason, json } = options;
        const request = { month, timeZone, withExceptions, reason };
        const closed = await withElapsed(`close ${month}`, () =>
          closePeriodAs({ db }, actorOf(options.by), request),
        );
        switch (closed.outcome) {
          case 'closed':
            if (json) printJson(closingJson(closed.closing));
            else printClosed(closed.closing);
            return;
          case 'refused':
            throw new OperatorError(closed.message);
          case 'unproven':
            throw new OperatorError(
              unprovenText(month, closed.exceptions, 'close it with --with-exceptions'),
            );
        }
      }),
    );
}

const CLOSE_NOTES = `
Nothing that arrives later changes the sums of a closed month: it is booked in the first open month, and
statements of both list it. Months are closed in order, in one time zone; the first one that you close
closes everything before it, too. A month is refused while something in it is unproven: open findings,
uncertain states, spans that were not compared with the service, events that are not applied.

  tallyhook close 2026-10 --time-zone Europe/Berlin
  tallyhook statement --month 2026-10

Exit code: 0 closed, 4 refused.`;

function printClosed(closing: Closing): void {
  printLine(closedText(closing));
  for (const one of closing.exceptions) printLine(`  ${exceptionText(one)}`);
  printLine(`Its statement: npx tallyhook statement --month ${closing.month}`);
}

interface ReopenOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

export function reopenCommand(): Command {
  return new Command('reopen')
    .addArgument(monthArgument())
    .addOption(reasonOption('why you reopen it; statements show it'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nOnly the last closed month can be reopened. Its sums are kept, and closing it again makes a new version.\n\nExit code: 0 reopened, 3 it is not closed, 4 a later month is closed.',
    )
    .action((month: string, { reason, by, json }: ReopenOptions) =>
      withDatabase(readConfig(), async (db) => {
        const input = { month, reason };
        const reopened = await reopenPeriodAs({ db }, actorOf(by), input);
        switch (reopened.outcome) {
          case 'reopened':
            if (json) printJson(closingJson(reopened.closing));
            else printLine(reopenedText(reopened.closing));
            return;
          case 'not_closed':
            throw new NotFoundError(reopened.message);
          case 'refused':
            throw new OperatorError(reopened.message);
        }
      }),
    );
}

export function closingsCommand(): Command {
  return new Command('closings').addCommand(
    new Command('list')
      .description('list closings, also of months that were reopened')
      .addOption(jsonOption())
      .addHelpText('after', '\nExit code: 0.')
      .action(({ json }: { readonly json: boolean }) =>
        withDatabase(readConfig(), async (db) => {
          const closings = await readClosings(db);
          if (json) printJson({ closings: closings.map(closingJson) });
          else if (closings.length === 0) printLine('No month was closed.');
          else printClosings(closings);
        }),
      ),
  );
}

function printClosings(closings: readonly Closing[]): void {
  printTable(
    ['MONTH', 'VERSION', 'TIME ZONE', 'CLOSED', 'BY', 'EXCEPTIONS', 'SEALED', 'REOPENED'],
    closings.map((one) => [
      one.month,
      String(one.version),
      one.timeZone,
      minuteOf(one.closedMicros),
      one.closedBy,
      String(one.exceptions.length),
      one.seal ? `block ${one.seal.blockNumber}` : '-',
      one.reopenedMicros === null
        ? '-'
        : `${minuteOf(one.reopenedMicros)} by ${one.reopenedBy}: ${one.reopenedReason}`,
    ]),
  );
}

function minuteOf(micros: number): string {
  return `${formatInstant(micros).slice(0, 16).replace('T', ' ')} UTC`;
}

import { Command, Option } from 'commander';
import { entriesSelected, exportJournalAs } from '../../actions/exportJournal.ts';
import { DEFAULT_CHART } from '../../ledger/domain/chart.ts';
import { daysOfMonth } from '../../ledger/domain/entries.ts';
import { ENTRY_FORMAT_NAMES, type EntryFormatName } from '../../ledger/domain/entryFormats.ts';
import { type EntryRange, exportEntries, readEntryZone } from '../../ledger/read/exportEntries.ts';
import { UsageError } from '../../platform/errors.ts';
import { readChartFile } from '../chartFile.ts';
import { readConfig, withDatabase } from '../context.ts';
import { currencyOption } from '../listOptions.ts';
import { dayOption, monthOption, optionalTimeZone } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { writeTransfers } from '../writeTransfers.ts';

interface EntriesOptions {
  readonly format: EntryFormatName;
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  readonly timeZone?: string;
  readonly currency?: string;
  readonly recorded: boolean;
  readonly daily: boolean;
  readonly accounts?: string;
  readonly entriesOnly: boolean;
  readonly output?: string;
  readonly by?: string;
}

export function entriesCommand(): Command {
  return new Command('entries')
    .description('export the journal as entries for a general ledger, hledger or beancount')
    .addOption(
      new Option('--format <format>', 'csv for a general ledger, or the journal of a program')
        .choices(ENTRY_FORMAT_NAMES)
        .makeOptionMandatory(),
    )
    .addOption(monthOption('only this month, such as 2026-10').conflicts(['from', 'to']))
    .addOption(dayOption('--from', 'only this day and later'))
    .addOption(dayOption('--to', 'only days before this'))
    .addOption(optionalTimeZone())
    .addOption(currencyOption())
    .option('--recorded', 'by the day on which Tallyhook recorded a transfer', false)
    .option('--daily', 'one entry for each day and currency, with the total of each account', false)
    .option('--accounts <file>', "the merchant's chart of accounts as JSON; `-` is standard input")
    .option('--entries-only', 'no declarations, opening balances and assertions', false)
    .option('--output <file>', 'write to this file instead of standard output')
    .addOption(byOption())
    .addHelpText('after', NOTES)
    .action(async (options: EntriesOptions) => {
      const { format, accounts, output, by } = options;
      const days = daysOf(options);
      const chart = accounts === undefined ? DEFAULT_CHART : await readChartFile(accounts, format);
      const { daily: isDaily, entriesOnly: isEntriesOnly } = options;
      await withDatabase(readConfig(), async (db) => {
        const zone = options.timeZone ?? (await readEntryZone(db));
        const range = { ...days, timeZone: zone };
        const what = { format, range, chart, isDaily, isEntriesOnly };
        const write = () =>
          writeTransfers(db, output, (tx, onProgress) =>
            exportEntries(tx, { ...what, onProgress: (rows) => onProgress({ rows }) }),
          );
        const selected = entriesSelected(what);
        await exportJournalAs({ db, write }, actorOf(by), { format, selected, output });
      });
    });
}

const NOTES = `
An entry has the day on which the service moved the money. What came after its month was closed has an entry
of its own on the first day of the month after it, so exports of a closed month always have the same entries and
amounts; the order of an entry is the present one, and its event is named until retention removes it. In another
time zone than that of the closed months, closings are not considered. A file for hledger or beancount begins with the
balances before its first day and ends with those after its last, which the program compares with its own.
With --entries-only it can be included in other files; csv always has the entries alone.

  tallyhook export entries --format hledger --month 2026-10 --output october.journal
  hledger -f october.journal check --strict

A chart of accounts has a code and a name for each account of \`tallyhook balances\`, or null to leave the
account out: {"psp.clearing": {"code": "1360", "name": "Payment service"}, "memo.auth_open": null, …}

Exit code: 0, 2 if an account has no mapping, 4 while transfers of an earlier version have no effective
time. Then nothing is written.`;

/** @throws UsageError if the range is empty */
function daysOf(options: EntriesOptions): Omit<EntryRange, 'timeZone'> {
  const { month, currency } = options;
  const { fromDay, toDay } =
    month === undefined ? { fromDay: options.from, toDay: options.to } : daysOfMonth(month);
  if (fromDay !== undefined && toDay !== undefined && fromDay >= toDay) {
    throw new UsageError(
      '--from must be before --to. The range includes --from and excludes --to.',
    );
  }
  return { basis: options.recorded ? 'recorded' : 'booked', fromDay, toDay, currency };
}

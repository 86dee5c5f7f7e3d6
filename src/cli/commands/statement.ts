import { Readable } from 'node:stream';
import { Command, Option } from 'commander';
import type { Statement } from '../../ledger/domain/statement.ts';
import { statementDocument } from '../../pages/ledger/statementDocument.tsx';
import { printable } from '../../platform/printable.ts';
import { statementCsv, statementJson } from '../../representation/statement.ts';
import { type StatementText, statementText } from '../../representation/statementTables.ts';
import { readStatement } from '../../statements/readStatement.ts';
import { readConfig, withDatabase } from '../context.ts';
import { terminal } from '../invocation.ts';
import { currencyOption } from '../listOptions.ts';
import { monthOption, optionalTimeZone } from '../options.ts';
import { writeOutput } from '../outputFile.ts';
import { withElapsed } from '../progress.ts';
import { tableText } from '../table.ts';

const FORMATS = {
  text: (statement: Statement) => textOf(statementText(statement)),
  csv: statementCsv,
  json: (statement: Statement) => `${JSON.stringify(statementJson(statement), null, 2)}\n`,
  html: (statement: Statement) => statementDocument(statementText(statement)),
} as const satisfies Record<string, (statement: Statement) => string>;
type Format = keyof typeof FORMATS;

interface StatementOptions {
  readonly month: string;
  readonly currency?: string;
  readonly timeZone?: string;
  readonly format: Format;
  readonly output?: string;
}

export function statementCommand(): Command {
  return new Command('statement')
    .description('print the statement of a month')
    .addOption(monthOption('the month, such as 2026-10').makeOptionMandatory())
    .addOption(currencyOption())
    .addOption(optionalTimeZone())
    .addOption(
      new Option('--format <format>', 'html is one file to keep, send and print')
        .choices(Object.keys(FORMATS))
        .default('text'),
    )
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', NOTES)
    .action(({ month, currency, timeZone, format, output }: StatementOptions) =>
      withDatabase(readConfig(), async (db) => {
        const request = { month, timeZone, currency };
        const statement = await withElapsed(`statement of ${month}`, () =>
          readStatement(db, request),
        );
        const text = Readable.from([FORMATS[format](statement)]);
        await writeOutput(text, output);
      }),
    );
}

const NOTES = `
Money belongs to the month in which the service moved it, not to the month in which Tallyhook recorded it.
So the statement of a month is the same for any order of webhooks; those that arrive late complete it.
The sums of a closed month never change: its statement lists what arrived later, and so does that of the
month in which it is booked.

  tallyhook statement --month 2026-10 --time-zone Europe/Berlin --format html --output october.html

Exit code: 0, 4 while transfers of an earlier version have no effective time.`;

function textOf({ title, facts, currencies, closing, clearing, tables }: StatementText): string {
  const all = [
    ...currencies.flatMap(({ currency, tables: own }) =>
      own.map((table) => ({ ...table, title: `${currency}: ${table.title}` })),
    ),
    ...closing,
    ...clearing,
    ...tables,
  ];
  const { isTTY, columns } = terminal().stdout;
  const parts = all.map(({ title: name, columns: headings, rows, empty }) =>
    rows.length === 0
      ? `${name}\n${empty}`
      : `${name}\n${tableText(
          headings.map((column) => column.title.toUpperCase()),
          rows,
          isTTY ? columns : undefined,
        )}`,
  );
  return `${[[title, ...facts].map(printable).join('\n'), ...parts].join('\n\n')}\n`;
}

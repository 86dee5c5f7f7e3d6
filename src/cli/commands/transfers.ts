import { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import type { JournalRow } from '../../ledger/domain/journalFormats.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import {
  readTransferPage,
  readTransferTotals,
  type TransferPlace,
  type TransferQuery,
  type TransferTotals,
} from '../../ledger/read/transferList.ts';
import type { Database } from '../../platform/db/database.ts';
import {
  transferCursor,
  transferJson,
  transferPlaces,
  transferTotalsJson,
} from '../../representation/transfer.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { countText, printMore } from '../listOptions.ts';
import { jsonOption, limitOption } from '../options.ts';
import { cursorOption, placeOf } from '../paging.ts';
import { printTable } from '../table.ts';
import {
  addTransferOptions,
  type TransferFilterOptions,
  transferQueryOf,
} from '../transferOptions.ts';

interface TransferOptions extends TransferFilterOptions {
  readonly totals: boolean;
  readonly limit: number;
  readonly cursor?: string;
  readonly json: boolean;
}

export function transfersCommand(): Command {
  const list = new Command('list').description('list the journal, newest transfer first');
  addTransferOptions(list)
    .option('--totals', 'print the count and the sums of the filter, too', false)
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nTransfers are selected and ordered by effective time, when the service moved the money; with --recorded, by ' +
        'the time at which Tallyhook recorded them. `tallyhook export journal` writes every transfer to a file.\n\n' +
        'Exit code: 0, 4 while transfers of an earlier version have no effective time.',
    )
    .action((options: TransferOptions) =>
      withDatabase(readConfig(), (db) => printList(db, options)),
    );
  return new Command('transfers').addCommand(list);
}

async function printList(db: Database, options: TransferOptions): Promise<void> {
  const query = transferQueryOf(options);
  const { rows, next } = await readRows(db, query, options);
  const totals = options.totals ? await readTransferTotals(db, query) : undefined;
  const cursor = transferCursor(next);
  if (options.json) {
    printJson({
      transfers: rows.map(transferJson),
      next_cursor: cursor,
      totals: totals ? transferTotalsJson(totals) : null,
    });
    return;
  }
  if (rows.length === 0) printLine('No such transfers.');
  else printRows(rows);
  printMore({ rows, next: cursor });
  if (totals) printTotals(totals);
}

/** A page of the ledger searches a bounded number of transfers; the command continues until it is full. */
async function readRows(db: Database, query: TransferQuery, { limit, cursor }: TransferOptions) {
  const rows: JournalRow[] = [];
  let next: TransferPlace | undefined = placeOf(cursor, transferPlaces[query.basis]);
  do {
    const page = await readTransferPage(db, query, { after: next, limit: limit - rows.length });
    rows.push(...page.rows);
    next = page.next;
  } while (rows.length < limit && next !== undefined);
  return { rows, next };
}

function printRows(rows: readonly JournalRow[]): void {
  printTable(
    [
      'TRANSFER',
      'EFFECTIVE',
      'RECORDED',
      'LEG',
      'DEBIT',
      'CREDIT',
      'AMOUNT',
      'ORDER',
      'RESOURCE',
      'INBOX',
    ],
    rows.map((row) => [
      String(row.id),
      row.effectiveMicros === undefined ? '-' : formatInstant(row.effectiveMicros),
      formatInstant(row.recordedMicros),
      `${row.kind} ${row.leg}`,
      row.debit,
      row.credit,
      formatMoney(row.amountMinor, row.currency),
      row.orderKey === undefined ? '-' : orderIdOf(row.orderKey),
      row.resourceId,
      row.inboxId === undefined ? '-' : String(row.inboxId),
    ]),
  );
}

function printTotals(totals: TransferTotals): void {
  printLine(`Total: ${countText(totals)}.`);
  for (const sum of totals.currencies) {
    const { currency, matches, amountMinor } = sum;
    printLine(`  ${currency}: ${matches}, ${formatMoney(amountMinor, currency)}`);
  }
}

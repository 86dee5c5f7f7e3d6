import { Command, Option } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import type { JournalRow } from '../../ledger/domain/journalFormats.ts';
import { ACCOUNT_NAMES, type Account } from '../../ledger/domain/legs.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import {
  readTransferPage,
  readTransferTotals,
  type TransferQuery,
  type TransferTotals,
} from '../../ledger/read/transferList.ts';
import type { Database } from '../../platform/db/database.ts';
import { encodePlace, numberPlace } from '../../representation/cursor.ts';
import { transferJson, transferTotalsJson } from '../../representation/transfer.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import {
  addMoneyOptions,
  checkRanges,
  countText,
  type MoneyOptions,
  printMore,
} from '../listOptions.ts';
import { jsonOption, limitOption } from '../options.ts';
import { cursorOption, placeOf } from '../paging.ts';
import { printTable } from '../table.ts';

interface TransferOptions extends MoneyOptions {
  readonly account?: Account;
  readonly order?: string;
  readonly resource?: string;
  readonly totals: boolean;
  readonly limit: number;
  readonly cursor?: string;
  readonly json: boolean;
}

export function transfersCommand(): Command {
  const list = new Command('list')
    .description('list the journal, newest transfer first')
    .addOption(
      new Option('--account <account>', 'only transfers to or from it').choices(ACCOUNT_NAMES),
    )
    .option('--order <id>', 'only transfers of the parts of this order')
    .option(
      '--resource <id>',
      'only transfers of this refund, dispute or payout, or of this payment with its refunds and disputes',
    );
  addMoneyOptions(list)
    .option('--totals', 'print the count and the sums of the filter, too', false)
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nTimes are those of recording. `tallyhook export journal` writes every transfer to a file.\n\nExit code: 0.',
    )
    .action((options: TransferOptions) =>
      withDatabase(readConfig(), (db) => printList(db, options)),
    );
  return new Command('transfers').addCommand(list);
}

/** The filter that the options describe. */
function queryOf(options: TransferOptions): TransferQuery {
  checkRanges(options);
  return {
    account: options.account,
    orderId: options.order,
    resourceId: options.resource,
    currency: options.currency,
    minMinor: options.minAmount,
    maxMinor: options.maxAmount,
    fromMicros: options.from,
    toMicros: options.to,
  };
}

async function printList(db: Database, options: TransferOptions): Promise<void> {
  const query = queryOf(options);
  const { rows, next } = await readRows(db, query, options);
  const totals = options.totals ? await readTransferTotals(db, query) : undefined;
  const cursor = next === undefined ? null : encodePlace([next]);
  if (options.json) {
    printJson({
      transfers: rows.map(transferJson),
      next_cursor: cursor,
      totals: totals ? transferTotalsJson(totals) : null,
    });
    return;
  }
  if (rows.length === 0) console.log('No such transfers.');
  else printRows(rows);
  printMore({ rows, next: cursor });
  if (totals) printTotals(totals);
}

/** A page of the ledger searches a bounded number of transfers; the command continues until it is full. */
async function readRows(db: Database, query: TransferQuery, { limit, cursor }: TransferOptions) {
  const rows: JournalRow[] = [];
  let next = placeOf(cursor, numberPlace)?.[0];
  do {
    const page = await readTransferPage(db, query, { after: next, limit: limit - rows.length });
    rows.push(...page.rows);
    next = page.next;
  } while (rows.length < limit && next !== undefined);
  return { rows, next };
}

function printRows(rows: readonly JournalRow[]): void {
  printTable(
    ['TRANSFER', 'RECORDED', 'LEG', 'DEBIT', 'CREDIT', 'AMOUNT', 'ORDER', 'RESOURCE', 'INBOX'],
    rows.map((row) => [
      String(row.id),
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
  console.log(`Total: ${countText(totals)}.`);
  for (const sum of totals.currencies) {
    const { currency, matches, amountMinor } = sum;
    console.log(`  ${currency}: ${matches}, ${formatMoney(amountMinor, currency)}`);
  }
}

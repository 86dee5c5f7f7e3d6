/**
 * The journal in the format of hledger (https://hledger.org), so that another program can check and
 * report on our books.
 *
 * 1. Every transfer is one transaction with both postings written out, its number as the code.
 * 2. Amounts have the decimals of their currency, and the decimal mark is declared: `6.540 KWD` must
 *    not be read as thousands.
 * 3. Ids from outside are percent-encoded (as encodeURIComponent does): `;` would begin a comment,
 *    `,` would end a tag, `name:` and `[date]` would be read as what they look like.
 * 4. The file ends with assertions of what its rows add up to by our own sum, so that `hledger check`
 *    compares the two and a file that was cut off can be told from a whole one.
 */
import { currencyExponent, formatAmount } from '../../contract/money.ts';
import type { JournalFormat, JournalRow } from './journalFormats.ts';
import { ACCOUNTS, type Account } from './legs.ts';
import { orderIdOf } from './order.ts';
import { formatInstant } from './time.ts';

/** Our accounts by hledger's names and types. Holds are no money: they stand apart, without a type. */
export const HLEDGER_ACCOUNTS: Readonly<
  Record<Account, { readonly name: string; readonly type?: 'A' | 'L' | 'R' | 'X' }>
> = {
  'psp.clearing': { name: 'assets:psp.clearing', type: 'A' },
  'dispute.held': { name: 'assets:dispute.held', type: 'A' },
  'payout.in_transit': { name: 'assets:payout.in_transit', type: 'A' },
  'refund.in_flight': { name: 'liabilities:refund.in_flight', type: 'L' },
  'order.due': { name: 'income:order.due', type: 'R' },
  'order.refunds': { name: 'expenses:order.refunds', type: 'X' },
  'loss.disputes': { name: 'expenses:loss.disputes', type: 'X' },
  'payout.paid': { name: 'expenses:payout.paid', type: 'X' },
  'memo.auth_open': { name: 'memo:auth_open' },
  'memo.auth_contra': { name: 'memo:auth_contra' },
};

export interface HledgerOptions {
  /** What the rows cover, in words; part of the heading. */
  readonly covers: string;
}

/** Keeps the currencies met so far and a sum for each account and currency: no more than a few hundred. */
export function hledgerFormat({ covers }: HledgerOptions): JournalFormat {
  const currencies = new Set<string>();
  const sums = new Map<string, bigint>();
  let lastDate = '';
  const add = (account: string, currency: string, amountMinor: bigint) => {
    const key = `${account} ${currency}`;
    sums.set(key, (sums.get(key) ?? 0n) + amountMinor);
  };
  return {
    begin: () => heading(covers),
    row: (row) => {
      const date = formatInstant(row.recordedMicros).slice(0, 10);
      if (date > lastDate) lastDate = date;
      const declared = currencies.has(row.currency) ? '' : commodityDirective(row.currency);
      currencies.add(row.currency);
      const debit = accountName(row.debit);
      const credit = accountName(row.credit);
      add(debit, row.currency, BigInt(row.amountMinor));
      add(credit, row.currency, -BigInt(row.amountMinor));
      return `${declared}${transaction(row, { date, debit, credit })}`;
    },
    end: () => (sums.size === 0 ? '; No transfers.\n' : assertions(lastDate, sums)),
  };
}

function heading(covers: string): string {
  const lines = [
    `; Tallyhook's journal: ${covers}.`,
    '; Dates are those of recording, in UTC. Ids are percent-encoded. Holds are under memo: and are no money.',
    '',
    'decimal-mark .',
    '',
  ];
  for (const [code, { name, type }] of Object.entries(HLEDGER_ACCOUNTS)) {
    lines.push(`account ${name}${type === undefined ? '' : `  ; type:${type}`}`);
    lines.push(`  ; ${ACCOUNTS[code as Account]}`);
  }
  return `${lines.join('\n')}\n\n`;
}

/** Declares how amounts of a currency are written: a decimal mark even where no decimals follow. */
function commodityDirective(currency: string): string {
  return `commodity 1000.${'0'.repeat(currencyExponent(currency))} ${currency}\n\n`;
}

/** A later version may know accounts that this one does not; they stand apart and are seen. */
function accountName(code: string): string {
  return Object.hasOwn(HLEDGER_ACCOUNTS, code)
    ? HLEDGER_ACCOUNTS[code as Account].name
    : `unknown:${encode(code)}`;
}

interface Placed {
  readonly date: string;
  readonly debit: string;
  readonly credit: string;
}

function transaction(row: JournalRow, { date, debit, credit }: Placed): string {
  const amount = `${formatAmount(row.amountMinor, row.currency)} ${row.currency}`;
  const tags = [
    row.eventId === undefined ? undefined : `event:${encode(row.eventId)}`,
    row.orderKey === undefined ? undefined : `order:${encode(orderIdOf(row.orderKey))}`,
    `head:${row.headHash}`,
  ].filter((tag) => tag !== undefined);
  return [
    `${date} (${row.id}) ${row.kind} ${encode(row.resourceId)} ${row.leg} ${row.seq}  ; ${tags.join(', ')}`,
    `    ${debit}  ${amount}`,
    `    ${credit}  -${amount}`,
    '',
    '',
  ].join('\n');
}

function assertions(date: string, sums: ReadonlyMap<string, bigint>): string {
  const lines = [
    '; What the rows above add up to, by our own sum: `hledger check` compares it with its own.',
    `${date} balances`,
  ];
  for (const [key, sumMinor] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [account = '', currency = ''] = key.split(' ');
    const zero = formatAmount(0, currency);
    lines.push(
      `    ${account}  ${zero} ${currency} = ${formatAmount(sumMinor, currency)} ${currency}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The characters that hledger reads are all among those that are encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/**
 * Writes the journal in the format of hledger (https://hledger.org), so that another program can check
 * the ledger and report on it.
 *
 * 1. Every transfer is one transaction with both postings written out, its number as the code.
 * 2. Amounts have the decimals of their currency, and the decimal mark is declared: `6.540 KWD` must
 *    not be read as thousands.
 * 3. Ids from outside are percent-encoded (as encodeURIComponent does): `;` would begin a comment,
 *    `,` would end a tag, `name:` and `[date]` would be read as what they look like.
 * 4. The file ends with balance assertions from Tallyhook's own sums. `hledger check` compares them with
 *    its sums, so that a truncated file is detected.
 */
import { currencyExponent, formatAmount } from '../../contract/money.ts';
import type { JournalFormat, JournalRow } from './journalFormats.ts';
import { ACCOUNTS, type Account } from './legs.ts';
import { orderIdOf } from './orderKey.ts';
import { formatInstant } from './time.ts';

/** Names and types of the accounts in hledger. Holds are not money, so their accounts have no type. */
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
  /** The range of the rows in words, for the heading. */
  readonly covers: string;
}

/** Keeps the currencies so far and a sum for each account and currency: at most a few hundred values. */
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
    '; Dates are those of recording, in UTC. Ids are percent-encoded. Holds are under memo: and are not money.',
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

/** Declares the format of a currency's amounts, with a decimal mark even if it has no decimals. */
function commodityDirective(currency: string): string {
  return `commodity 1000.${'0'.repeat(currencyExponent(currency))} ${currency}\n\n`;
}

/** A later version may have accounts that this one does not know; they get a name of their own. */
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
    '; Balances of the rows above, as Tallyhook adds them up. `hledger check` compares them with its own.',
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

/** Encodes every character that has a meaning in hledger. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

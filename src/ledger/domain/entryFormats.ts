/**
 * Writes entries of a general ledger as text: CSV, hledger (https://hledger.org) and beancount
 * (https://beancount.github.io).
 *
 * 1. Amounts are exact, with the decimals of their currency. A file for hledger declares its decimal mark:
 *    `6.540 KWD` must not be read as thousands.
 * 2. In hledger and beancount, ids from outside are percent-encoded (as encodeURIComponent does), so that
 *    they cannot begin a comment, a tag, a posting or a directive. In CSV they stay in their field, and a
 *    spreadsheet does not run them as formulas.
 * 3. A complete file declares its accounts and currencies, and ends with balance assertions from Tallyhook's
 *    own sums: the other program compares them with its sums, so that a truncated file is detected. CSV
 *    has the entries alone.
 */
import { currencyExponent, formatAmount } from '../../contract/money.ts';
import type { AccountType, ChartAccount, NameRule } from './chart.ts';
import type { Entry, Posting } from './entries.ts';
import { csvField } from './journalFormats.ts';

/** An account that a complete file declares. */
export interface DeclaredAccount extends ChartAccount {
  /** Undefined if accounts of several types are exported as this one. */
  readonly type: AccountType | undefined;
  readonly currencies: readonly string[];
}

export interface EntryFormat {
  readonly names: NameRule;
  /** @param covers what the file has, in words */
  begin(covers: string): string;
  declare(accounts: readonly DeclaredAccount[]): string;
  entry(entry: Entry): string;
  /** Asserts balances at the end of a day such as `2026-10-31`. */
  assert(balances: readonly Posting[], day: string): string;
}

const CSV_COLUMNS =
  'entry,date,account,account_name,currency,debit,credit,description,order_id,event_id\n';

const csv: EntryFormat = {
  names: { pattern: /^[^\p{C}]{1,200}$/u, text: '1 to 200 characters' },
  begin: () => CSV_COLUMNS,
  declare: () => '',
  entry: ({ id, day, words, orderId = '', eventId = '', postings }) =>
    postings
      .map(({ account, currency, amountMinor }) => {
        const isDebit = amountMinor > 0n;
        const amount = formatAmount(isDebit ? amountMinor : -amountMinor, currency);
        const sides = isDebit ? [amount, ''] : ['', amount];
        const fields = [id, day, account.code, account.name, currency, ...sides, words.join(' ')];
        return `${[...fields, orderId, eventId].map(csvField).join(',')}\n`;
      })
      .join(''),
  assert: () => '',
};

const hledger: EntryFormat = {
  names: {
    // Two spaces end a name, and a bracket before it makes its posting virtual.
    pattern:
      /^(?=.{1,200}$)[\p{L}\p{N}](?:[ ]?[\p{L}\p{N}.,&'/_()-])*(?::[\p{L}\p{N}](?:[ ]?[\p{L}\p{N}.,&'/_()-])*)*$/u,
    text: 'a name of hledger, such as Assets:Service:Clearing: parts that begin with a letter or digit, separated by colons',
  },
  begin: (covers) => `; ${covers}\n; Ids are percent-encoded.\n\ndecimal-mark .\n\n`,
  declare: (accounts) => {
    const lines = accounts.map(({ name, code, type }) => {
      const tags = [...(type === undefined ? [] : [`type:${type}`]), `code:${encode(code)}`];
      return `account ${name}  ; ${tags.join(', ')}\n`;
    });
    const currencies = new Set(accounts.flatMap((account) => account.currencies));
    // With a decimal mark even if the currency has no decimals.
    const commodities = [...currencies]
      .toSorted()
      .map((currency) => `commodity 1000.${'0'.repeat(currencyExponent(currency))} ${currency}\n`);
    return `${lines.join('')}${commodities.join('')}\n`;
  },
  entry: ({ id, day, words, orderId, eventId, postings }) => {
    const tags = [
      orderId === undefined ? undefined : `order:${encode(orderId)}`,
      eventId === undefined ? undefined : `event:${encode(eventId)}`,
    ].filter((tag) => tag !== undefined);
    const comment = tags.length === 0 ? '' : `  ; ${tags.join(', ')}`;
    return `${day} (${encode(id)}) ${words.map(encode).join(' ')}${comment}\n${postingLines(postings, '    ')}\n`;
  },
  assert: (balances, day) => {
    const lines = balances.map(
      ({ account, currency, amountMinor }) =>
        `    ${account.name}  ${formatAmount(0, currency)} ${currency} = ${formatAmount(amountMinor, currency)} ${currency}\n`,
    );
    return `; Balances by Tallyhook. \`hledger check\` compares them with its own.\n${day} balances\n${lines.join('')}`;
  },
};

/** The balance of an account as beancount compares it: with those of the accounts beneath it. */
function withBeneath(balances: readonly Posting[], name: string, currency: string): bigint {
  return balances
    .filter((one) => one.currency === currency && `${one.account.name}:`.startsWith(`${name}:`))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

/** Beancount requires accounts to be opened before they are used; this is before any payment. */
const OPENED = '1900-01-01';

const beancount: EntryFormat = {
  names: {
    pattern:
      /^(?=.{1,200}$)(?:Assets|Liabilities|Equity|Income|Expenses)(?::[\p{Lu}\p{Nd}][\p{L}\p{Nd}-]*)+$/u,
    text:
      'a name of beancount, such as Assets:Service:Clearing: Assets, Liabilities, Equity, Income or Expenses, then parts of ' +
      'letters, digits and hyphens that begin with a capital letter or digit',
  },
  begin: (covers) => `; ${covers}\n; Ids are percent-encoded.\n\n`,
  declare: (accounts) =>
    `${accounts
      .map(
        ({ name, code, currencies }) =>
          `${OPENED} open ${name} ${currencies.join(',')}\n  code: "${encode(code)}"\n`,
      )
      .join('')}\n`,
  entry: ({ id, day, words, orderId, eventId, postings }) => {
    const metadata = Object.entries({ entry: id, order: orderId, event: eventId }).flatMap(
      ([key, value]) => (value === undefined ? [] : [`  ${key}: "${encode(value)}"\n`]),
    );
    const heading = `${day} * "${words.map(encode).join(' ')}"\n`;
    return `${heading}${metadata.join('')}${postingLines(postings, '  ')}\n`;
  },
  // Beancount compares at the beginning of a day, and would tolerate one unit of the last decimal.
  assert: (balances, day) =>
    `; Balances by Tallyhook. bean-check compares them with its own.\n${balances
      .map(
        ({ account, currency }) =>
          `${dayAfter(day, 1)} balance ${account.name}  ${formatAmount(withBeneath(balances, account.name, currency), currency)} ~ 0 ${currency}\n`,
      )
      .join('')}`,
};

export const ENTRY_FORMATS = { csv, hledger, beancount } as const satisfies Record<
  string,
  EntryFormat
>;
export type EntryFormatName = keyof typeof ENTRY_FORMATS;
export const ENTRY_FORMAT_NAMES = Object.keys(ENTRY_FORMATS) as readonly EntryFormatName[];

function postingLines(postings: readonly Posting[], indent: string): string {
  return postings
    .map(
      ({ account, currency, amountMinor }) =>
        `${indent}${account.name}  ${formatAmount(amountMinor, currency)} ${currency}\n`,
    )
    .join('');
}

/** Encodes every character that has a meaning in either program. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The day some days after `2026-10-31`; negative: before it. */
export function dayAfter(day: string, days: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10);
}

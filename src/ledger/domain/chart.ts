/**
 * The chart of accounts of a general ledger: which account of the merchant each account of the journal is
 * exported as.
 *
 * 1. Several accounts of the journal may be one account of the chart. A code has one name, and a name
 *    one code.
 * 2. An account may be left out only with every account that it exchanges money with; otherwise entries
 *    would have one side.
 */
import { ACCOUNT_NAMES, type Account, LEGS, type Leg } from './legs.ts';

export interface ChartAccount {
  readonly code: string;
  /** As the program that reads the export writes it. */
  readonly name: string;
}

/** Null: left out. */
export type Chart = Readonly<Record<Account, ChartAccount | null>>;

/** Asset, liability, revenue, expense, or equity: holds are not money, and add up to nothing. */
export type AccountType = 'A' | 'L' | 'R' | 'X' | 'E';

const DEFAULTS = {
  'psp.clearing': ['Assets:Service:Clearing', 'A'],
  'order.due': ['Income:Orders', 'R'],
  'order.refunds': ['Expenses:Refunds', 'X'],
  'refund.in_flight': ['Liabilities:Refunds:InFlight', 'L'],
  'memo.auth_open': ['Equity:Holds:Open', 'E'],
  'memo.auth_contra': ['Equity:Holds:Contra', 'E'],
  'dispute.held': ['Assets:Disputes:Held', 'A'],
  'loss.disputes': ['Expenses:Disputes:Lost', 'X'],
  'payout.in_transit': ['Assets:Payouts:InTransit', 'A'],
  'payout.paid': ['Expenses:Payouts:Paid', 'X'],
  'fees.service': ['Expenses:Service:Fees', 'X'],
  'service.adjustments': ['Expenses:Service:Adjustments', 'X'],
  'bank.account': ['Assets:Bank', 'A'],
} as const satisfies Record<Account, readonly [name: string, type: AccountType]>;

/** The chart of an export for which none is given. Its names are valid in every format. */
export const DEFAULT_CHART = Object.fromEntries(
  ACCOUNT_NAMES.map((account) => [account, { code: account, name: DEFAULTS[account][0] }]),
) as Chart;

export function accountType(account: Account): AccountType {
  return DEFAULTS[account][1];
}

/** @throws Error for an account of a later version */
export function chartAccount(chart: Chart, account: string): ChartAccount | null {
  const found = isAccount(account) ? chart[account] : undefined;
  if (found === undefined)
    throw new Error(`the journal has an account ${account}, which is unknown`);
  return found;
}

function isAccount(text: string): text is Account {
  return Object.hasOwn(DEFAULTS, text);
}

/** What a name must be in a format. */
export interface NameRule {
  readonly pattern: RegExp;
  /** Such as `letters and digits`, for an error. */
  readonly text: string;
}

/** What is wrong with a chart, one sentence each; empty if nothing is. */
export function chartProblems(chart: Chart, rule: NameRule): readonly string[] {
  const mapped = ACCOUNT_NAMES.flatMap((account) => {
    const own = chart[account];
    return own === null ? [] : [{ account, ...own }];
  });
  const badNames = mapped
    .filter(({ name }) => !rule.pattern.test(name))
    .map(
      ({ account, name }) => `${account}: the name ${JSON.stringify(name)} must be ${rule.text}.`,
    );
  return [...badNames, ...conflicts(mapped), ...halves(chart)];
}

interface Mapped extends ChartAccount {
  readonly account: Account;
}

/** Rule 1. */
function conflicts(mapped: readonly Mapped[]): readonly string[] {
  return mapped.flatMap((one, place) => {
    const other = mapped
      .slice(0, place)
      .find(({ code, name }) => (code === one.code) !== (name === one.name));
    if (other === undefined) return [];
    const shared = other.code === one.code ? 'code with two names' : 'name with two codes';
    return [`${other.account} and ${one.account} have one ${shared}.`];
  });
}

/** Rule 2. */
function halves(chart: Chart): readonly string[] {
  const pairs = Object.values(LEGS).flatMap((legs) => Object.values<Leg>(legs));
  const problems = pairs.flatMap(({ debit, credit }) => {
    if ((chart[debit] === null) === (chart[credit] === null)) return [];
    const [left, kept] = chart[debit] === null ? [debit, credit] : [credit, debit];
    return [`${left} is left out and ${kept} is not, although they exchange money.`];
  });
  return [...new Set(problems)];
}

/**
 * What `tallyhook verify` proves. Terms: a *check* is one claim about the whole ledger; a *subject* is
 * what the claim is about (a resource, an order, an event); an *offender* is a subject for which it does
 * not hold.
 *
 * 1. Each check compares one step of the derivation with its input: inbox → snapshots → resources →
 *    journal, orders, findings, and settlement lines → journal. So the failed checks show in which step a
 *    damaged row is.
 * 2. A check claims only what holds between any two transactions, so it can run beside the workers.
 * 3. The rules are those of the code that writes the ledger; there is no second implementation.
 */

/** The checks in the order of the derivation, with the claim of each. */
export const CHECKS = {
  inbox: 'Every acknowledged event is applied, pending or dead.',
  snapshots: 'The content of every snapshot matches its hash.',
  resources: 'Folding the snapshots of each resource again gives its row.',
  children: 'Refunds and disputes are filed under the order of their payment.',
  findings: 'The open findings about each resource are those that its state shows.',
  posted:
    'Each leg has posted what the state of its resource requires, in the row and in the journal.',
  chain:
    'The rows of each leg are numbered from 1, continue the previous row, and use its accounts.',
  effective: 'The transfers of each leg have the effective times that its snapshots state.',
  authorizations: 'No final payment has an open authorization.',
  orders: 'The status and totals of each order are those that its parts add up to.',
  order_findings: 'The open findings about each order are those that its parts show.',
  lines: 'The content of every settlement and bank line matches its digest.',
  booked: 'Each settlement and bank line has posted what it and its match require, on its day.',
  sums: 'The stored sums of statements and balances are those of the journal.',
  closings: 'The sums of closed months are those of the journal as it was when they were closed.',
  chained:
    'Each transfer is as it was chained, each block of the chain continues the one before it, and each closing is as it was sealed.',
  balance: 'Debits equal credits in every currency.',
} as const;

/** What `--rebuild` compares with a ledger rebuilt from the inbox. */
export const REBUILD_CHECKS = {
  rebuilt_resources: 'Reading and folding the inbox again gives the same resources.',
  rebuilt_findings: 'The rebuilt resources show the findings that are open.',
  rebuilt_balances: 'The rebuilt resources require the account balances that the journal has.',
  rebuilt_orders: 'The rebuilt resources add up to the same orders.',
  rebuilt_order_findings: 'The rebuilt orders show the findings that are open.',
} as const;

export type CheckName = keyof typeof CHECKS | keyof typeof REBUILD_CHECKS;

export interface Offender {
  /** `payment:pay_1`, `order:order:ord_1`, `event:12`, `currency:USD`. */
  readonly subject: string;
  readonly problem: string;
  /** The inbox number of the newest event about it; replaying that event folds it again. */
  readonly event?: number;
}

/** What a check found, in a part of the ledger or in all of it. */
export interface CheckCount {
  readonly name: CheckName;
  /** The number of subjects checked. */
  readonly checked: number;
  readonly failures: number;
  /** The first offenders, at most MAX_OFFENDERS. */
  readonly offenders: readonly Offender[];
}

export interface CheckResult extends CheckCount {
  readonly meaning: string;
}

export const MAX_OFFENDERS = 10;

/** A value as text, so that values from PostgreSQL and from JavaScript can be compared. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Finds stored columns that differ from the expected ones. */
export function columnProblems(
  expected: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(expected).flatMap((column) => {
    const [should, is] = [textOf(expected[column]), textOf(stored[column])];
    return should === is ? [] : [`${column} is ${is ?? 'empty'}, not ${should ?? 'empty'}`];
  });
}

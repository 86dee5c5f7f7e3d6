/**
 * What `tallyhook verify` proves. Terms: a *check* is one claim about the whole ledger; a *subject*
 * is what it was made of (a resource, an order, an event); an *offender* is a subject for which it
 * does not hold.
 *
 * 1. Each check compares what is stored with what it follows from, one step of the way: inbox →
 *    snapshots → resources → journal, orders, findings. So the checks that fail around one damaged
 *    row show where it stands.
 * 2. A check claims only what holds at every moment between two transactions, whatever runs.
 * 3. The rules come from the code that writes the ledger; nothing is derived a second way.
 */

/** The checks in the order in which they follow from each other, with what each of them means. */
export const CHECKS = {
  inbox: 'Every event that was acknowledged is applied, waits to be, or is dead.',
  snapshots: 'Every snapshot still has the content that its hash was made of.',
  resources: 'The snapshots of each resource, folded again, give its row.',
  children: 'Refunds and disputes are filed under the order of their payment.',
  findings:
    'The findings that the state of a resource shows are open, and no others of their kind.',
  posted: 'Each leg has moved what the state of its resource asks for; the journal says the same.',
  chain: 'Rows of a leg are numbered from 1, start where the last one ended, and use its accounts.',
  authorizations: 'A payment that is final holds no open authorization.',
  orders: 'The status and the totals of each order are what its parts add up to.',
  order_findings:
    'The findings that the parts of each order show are open, and no others of their kind.',
  balance: 'Debits and credits of the accounts are equal in every currency.',
} as const;

/** What `--rebuild` compares with a ledger made again from the inbox. */
export const REBUILD_CHECKS = {
  rebuilt_resources: 'Reading the inbox again and folding it gives the same resources.',
  rebuilt_findings: 'Those resources show the findings that are open.',
  rebuilt_balances: 'Those resources ask for the balances per account that the journal has.',
  rebuilt_orders: 'Those resources add up to the same orders.',
  rebuilt_order_findings: 'Those orders show the findings that are open.',
} as const;

export type CheckName = keyof typeof CHECKS | keyof typeof REBUILD_CHECKS;

export interface Offender {
  /** `payment:pay_1`, `order:order:ord_1`, `event:12`, `currency:USD`. */
  readonly subject: string;
  readonly problem: string;
  /** The newest event about it, by its number in the inbox; applying that again folds it again. */
  readonly event?: number;
}

export interface CheckResult {
  readonly name: CheckName;
  readonly meaning: string;
  /** Subjects that were looked at. */
  readonly checked: number;
  readonly failures: number;
  /** The first offenders, at most MAX_OFFENDERS. */
  readonly offenders: readonly Offender[];
}

export const MAX_OFFENDERS = 10;

/** One value of the ledger as text; what PostgreSQL and JavaScript write alike compares equal. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Says of each expected column which is stored otherwise. */
export function columnProblems(
  expected: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(expected).flatMap((column) => {
    const [should, is] = [textOf(expected[column]), textOf(stored[column])];
    return should === is ? [] : [`${column} is ${is ?? 'empty'}, not ${should ?? 'empty'}`];
  });
}

/**
 * Whether the journal of a resource is whole, and says what the state of the resource asks for.
 * Amounts of the journal are `bigint` here: a damaged one must be named, whatever its size.
 */
import { formatMoney } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { LEGS, type Leg, type MoneyState, type Posted, targetsOf } from './legs.ts';

/** One row of the journal, as far as checking needs it. */
export interface JournalRow {
  readonly leg: string;
  readonly currency: string;
  readonly seq: number;
  readonly debit: string;
  readonly credit: string;
  readonly amountMinor: bigint;
  readonly previousMinor: bigint;
  readonly cumulativeMinor: bigint;
}

/** Where a leg ends. */
export interface LegEnd {
  readonly leg: string;
  readonly currency: string;
  readonly seq: number;
  readonly cumulativeMinor: bigint;
}

/** Ends of the legs of one resource, by `legKey`. */
export type LegEnds = ReadonlyMap<string, LegEnd>;

function legKey(currency: string, leg: string): string {
  return `${currency} ${leg}`;
}

/** @param rows of one resource, each leg in the order of its numbers */
export function legEnds(rows: readonly JournalRow[]): LegEnds {
  return new Map(rows.map((row) => [legKey(row.currency, row.leg), row]));
}

/**
 * Says where legs are broken; the first place of each.
 * @param rows of one resource, each leg in the order of its numbers
 */
export function chainProblems(kind: ResourceKind, rows: readonly JournalRow[]): readonly string[] {
  // The journal names its kinds freely; one that there is not has no legs.
  const legs: Readonly<Record<string, Leg>> = Object.hasOwn(LEGS, kind) ? LEGS[kind] : {};
  const ends = new Map<string, JournalRow>();
  const broken = new Map<string, string>();
  for (const row of rows) {
    const key = legKey(row.currency, row.leg);
    const problem = linkProblem(row, ends.get(key)) ?? accountsProblem(row, legs[row.leg]);
    if (problem !== undefined && !broken.has(key)) {
      broken.set(key, `${row.leg} ${row.currency}: ${problem}`);
    }
    ends.set(key, row);
  }
  return [...broken.values()];
}

function linkProblem(row: JournalRow, last: JournalRow | undefined): string | undefined {
  const money = (amountMinor: bigint) => formatMoney(amountMinor, row.currency);
  const lastSeq = last?.seq ?? 0;
  const endedMinor = last?.cumulativeMinor ?? 0n;
  if (row.seq !== lastSeq + 1) {
    return lastSeq === 0
      ? `it begins with row ${row.seq}`
      : `row ${row.seq} follows row ${lastSeq}`;
  }
  if (row.previousMinor !== endedMinor) {
    return `row ${row.seq} starts at ${money(row.previousMinor)}, but row ${lastSeq} ended at ${money(endedMinor)}`;
  }
  const movedMinor = row.cumulativeMinor - row.previousMinor;
  if (movedMinor !== row.amountMinor && movedMinor !== -row.amountMinor) {
    return `row ${row.seq} moves ${money(row.amountMinor)}, but goes from ${money(row.previousMinor)} to ${money(row.cumulativeMinor)}`;
  }
  return undefined;
}

function accountsProblem(row: JournalRow, accounts: Leg | undefined): string | undefined {
  if (!accounts) return 'there is no such leg';
  const grows = row.cumulativeMinor > row.previousMinor;
  const [debit, credit] = grows
    ? [accounts.debit, accounts.credit]
    : [accounts.credit, accounts.debit];
  if (row.debit === debit && row.credit === credit) return undefined;
  return `row ${row.seq} debits ${row.debit} and credits ${row.credit}, not ${debit} and ${credit}`;
}

/** A resource with what it says it has posted. */
export interface PostingState extends MoneyState {
  readonly currency: string | undefined;
  readonly posts: boolean;
  readonly posted: Posted;
}

/** Says which legs did not move what the state asks for, or are not in the journal as they say. */
export function postedProblems(state: PostingState, ends: LegEnds): readonly string[] {
  const posted = Object.entries(state.posted).flatMap(([currency, legs]) =>
    Object.entries(legs).map(([leg, end]) => ({ currency, leg, ...end })),
  );
  const known = new Map(posted.map((end) => [legKey(end.currency, end.leg), end]));
  const problems: string[] = [];
  for (const key of new Set([...known.keys(), ...ends.keys()])) {
    const [row, journal] = [known.get(key), ends.get(key)];
    const isSame =
      row?.seq === journal?.seq &&
      String(row?.cumulativeMinor) === String(journal?.cumulativeMinor);
    if (isSame) continue;
    const [currency = '', leg = ''] = key.split(' ');
    problems.push(
      `${leg} ${currency}: the row says ${endOf(row, currency)}, the journal ${endOf(journal, currency)}`,
    );
  }
  return [...problems, ...targetProblems(state)];
}

function endOf(
  end: { readonly seq: number; readonly cumulativeMinor: number | bigint } | undefined,
  currency: string,
): string {
  return end === undefined
    ? 'nothing'
    : `${formatMoney(end.cumulativeMinor, currency)} after row ${end.seq}`;
}

/** While a state does not say enough to post, what was posted stays: nothing can be asked of it. */
function targetProblems(state: PostingState): readonly string[] {
  const { posted, posts, currency: current, ref } = state;
  if (!posts || current === undefined) return [];
  const targets = targetsOf(state);
  const problems: string[] = [];
  for (const currency of new Set([...Object.keys(posted), current])) {
    for (const leg of Object.keys(LEGS[ref.kind])) {
      const targetMinor = currency === current ? (targets[leg] ?? 0) : 0;
      const postedMinor = posted[currency]?.[leg]?.cumulativeMinor ?? 0;
      if (postedMinor === targetMinor) continue;
      problems.push(
        `${leg} ${currency}: ${formatMoney(postedMinor, currency)} is posted, the state asks for ${formatMoney(targetMinor, currency)}`,
      );
    }
  }
  return problems;
}

/** Says which currencies of a final payment are still held, by the journal. */
export function openAuthorizationProblems(state: PostingState, ends: LegEnds): readonly string[] {
  const isFinal = state.ref.kind === 'payment' && FINAL_STATUSES.payment.has(state.status ?? '');
  // How much was captured may still be asked for; the hold is released when the answer is there.
  if (!isFinal || !state.posts) return [];
  const endMinor = (currency: string, leg: string) =>
    ends.get(legKey(currency, leg))?.cumulativeMinor ?? 0n;
  return [...new Set([...ends.values()].map(({ currency }) => currency))].flatMap((currency) => {
    const openMinor =
      endMinor(currency, 'auth_opened') -
      endMinor(currency, 'auth_consumed') -
      endMinor(currency, 'auth_released');
    return openMinor === 0n
      ? []
      : [`${formatMoney(openMinor, currency)} is still authorized, though it is ${state.status}`];
  });
}

/** Balances in minor units, by `currency account`; debits count up. */
export type Balances = ReadonlyMap<string, bigint>;

/** What the rows of the journal did to the accounts. */
export function balancesOf(rows: readonly JournalRow[]): Balances {
  const balances = new Map<string, bigint>();
  for (const { currency, debit, credit, amountMinor } of rows) {
    add(balances, `${currency} ${debit}`, amountMinor);
    add(balances, `${currency} ${credit}`, -amountMinor);
  }
  return balances;
}

/** What a state asks of the accounts. */
export function expectedBalances(state: MoneyState & { readonly currency: string }): Balances {
  const legs: Readonly<Record<string, Leg>> = LEGS[state.ref.kind];
  const balances = new Map<string, bigint>();
  for (const [leg, targetMinor] of Object.entries(targetsOf(state))) {
    const accounts = legs[leg];
    if (!accounts) continue;
    add(balances, `${state.currency} ${accounts.debit}`, BigInt(targetMinor));
    add(balances, `${state.currency} ${accounts.credit}`, -BigInt(targetMinor));
  }
  return balances;
}

function add(balances: Map<string, bigint>, key: string, amountMinor: bigint): void {
  balances.set(key, (balances.get(key) ?? 0n) + amountMinor);
}

/** Says which accounts differ. */
export function balanceProblems(asked: Balances, journal: Balances): readonly string[] {
  return [...new Set([...asked.keys(), ...journal.keys()])].flatMap((key) => {
    const [should, is] = [asked.get(key) ?? 0n, journal.get(key) ?? 0n];
    if (should === is) return [];
    const [currency = '', account = ''] = key.split(' ');
    return [`${account} has ${formatMoney(is, currency)}, not ${formatMoney(should, currency)}`];
  });
}

/**
 * Checks that the journal of a resource is complete and matches the state of the resource. Amounts are
 * `bigint`, so that a damaged amount of any size can be reported.
 */
import { formatMoney } from '../../contract/money.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { differences, type Movement, type PostedMovement } from './effectiveTimes.ts';
import {
  type JournalKind,
  LEGS,
  type Leg,
  type MoneyState,
  type Posted,
  targetsIn,
  targetsOf,
} from './legs.ts';
import { formatInstant } from './time.ts';

/** The fields of a journal row that the checks need. */
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

/** The end of a leg: its last row. */
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

/** @param rows of one resource, each leg in sequence */
export function legEnds(rows: readonly JournalRow[]): LegEnds {
  return new Map(rows.map((row) => [legKey(row.currency, row.leg), row]));
}

/**
 * Finds the first broken row of each leg.
 * @param rows of one resource, each leg in sequence
 */
export function chainProblems(kind: JournalKind, rows: readonly JournalRow[]): readonly string[] {
  // The kind comes from a journal row; an unknown one has no legs.
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
  if (!accounts) return 'this leg does not exist';
  const grows = row.cumulativeMinor > row.previousMinor;
  const [debit, credit] = grows
    ? [accounts.debit, accounts.credit]
    : [accounts.credit, accounts.debit];
  if (row.debit === debit && row.credit === credit) return undefined;
  return `row ${row.seq} debits ${row.debit} and credits ${row.credit}, not ${debit} and ${credit}`;
}

/** A resource with the posted amounts of its row. */
export interface PostingState extends MoneyState {
  readonly currency: string | undefined;
  readonly posts: boolean;
  readonly posted: Posted;
}

/** Finds legs that do not match the targets of the state, or that differ between row and journal. */
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
      `${leg} ${currency}: the row has ${endOf(row, currency)}, the journal has ${endOf(journal, currency)}`,
    );
  }
  return [...problems, ...targetProblems(state)];
}

/**
 * Finds effective times with which the journal has another amount than the history of the resource.
 * Transfers of an earlier version that have no time yet are not compared.
 */
export function effectiveProblems(
  history: readonly Movement[],
  rows: readonly (JournalRow & Pick<PostedMovement, 'effectiveMicros'>)[],
): readonly string[] {
  if (rows.some(({ effectiveMicros }) => effectiveMicros === undefined)) return [];
  const posted = rows.map(
    (row): PostedMovement => ({
      ...row,
      movedMinor: row.cumulativeMinor - row.previousMinor,
    }),
  );
  return differences(history, posted, '').map(
    ({ leg, currency, movedMinor, effectiveMicros }) =>
      `${leg} ${currency}: ${formatMoney(Math.abs(movedMinor), currency)} too ` +
      `${movedMinor > 0 ? 'little' : 'much'} is posted as effective at ${formatInstant(effectiveMicros)}`,
  );
}

function endOf(
  end: { readonly seq: number; readonly cumulativeMinor: number | bigint } | undefined,
  currency: string,
): string {
  return end === undefined
    ? 'nothing'
    : `${formatMoney(end.cumulativeMinor, currency)} after row ${end.seq}`;
}

function targetProblems(state: PostingState): readonly string[] {
  return targetsIn(state, state.posted).flatMap(({ currency, leg, targetMinor }) => {
    const postedMinor = state.posted[currency]?.[leg]?.cumulativeMinor ?? 0;
    if (postedMinor === targetMinor) return [];
    const [is, should] = [postedMinor, targetMinor].map((minor) => formatMoney(minor, currency));
    return [`${leg} ${currency}: ${is} is posted, but the state requires ${should}`];
  });
}

/** Finds currencies of a final payment in which the journal still has an open hold. */
export function openAuthorizationProblems(state: PostingState, ends: LegEnds): readonly string[] {
  const isFinal = state.ref.kind === 'payment' && FINAL_STATUSES.payment.has(state.status ?? '');
  // If the captured amount is still unknown, the hold stays until a retrieve returns it.
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
      : [
          `${formatMoney(openMinor, currency)} is still authorized, although the payment is ${state.status}`,
        ];
  });
}

/** Balances in minor units, by `currency account`; a debit increases them. */
export type Balances = ReadonlyMap<string, bigint>;

/** The balances that journal rows add up to. */
export function balancesOf(rows: readonly JournalRow[]): Balances {
  const balances = new Map<string, bigint>();
  for (const { currency, debit, credit, amountMinor } of rows) {
    add(balances, `${currency} ${debit}`, amountMinor);
    add(balances, `${currency} ${credit}`, -amountMinor);
  }
  return balances;
}

/** The balances that a state requires. */
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

/** Finds accounts with different balances. */
export function balanceProblems(expected: Balances, journal: Balances): readonly string[] {
  return [...new Set([...expected.keys(), ...journal.keys()])].flatMap((key) => {
    const [should, is] = [expected.get(key) ?? 0n, journal.get(key) ?? 0n];
    if (should === is) return [];
    const [currency = '', account = ''] = key.split(' ');
    return [`${account} has ${formatMoney(is, currency)}, not ${formatMoney(should, currency)}`];
  });
}

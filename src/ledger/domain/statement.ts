/**
 * The statement of a month. Terms: the *period* is a calendar month in a time zone, from its first instant
 * to the first instant of the next month. A movement is what a resource moved on a leg at one effective
 * time: transfers that correct each other count as one, or not at all.
 *
 * 1. The opening balance of an account is the sum of everything that was effective before the period, and
 *    the closing balance is the opening balance with the movements of the period.
 * 2. Without closings, every figure is a function of effective times, so it does not depend on when Tallyhook
 *    recorded it.
 * 3. The statement of a closed month is that of its closing (closings.ts). Late postings are in the accounts
 *    of the month in which they are booked, apart from its own days, and are listed in both months.
 * 4. Amounts are exact integers of minor units, of any size, each in one currency.
 */

import { sumMinor } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { MovedAmount } from './balances.ts';
import type { SealedBlock } from './chain.ts';
import type { ClearingItem, CurrencyClearing } from './clearing.ts';
import type { Closing } from './closings.ts';
import { ACCOUNT_NAMES, type Account, type JournalKind, LEGS, type Leg } from './legs.ts';
import type { Period } from './period.ts';

/** What a leg moved: forward (up), and what it took back (down). */
export interface LegSums {
  readonly currency: string;
  readonly leg: string;
  readonly upMinor: bigint;
  readonly downMinor: bigint;
}

/** How often, and how much. */
export interface MovedSums extends LegSums {
  readonly ups: number;
  readonly downs: number;
}

/** The movements of one day of the period. */
export interface DaySums extends MovedSums {
  /** `2026-10-31`, in the time zone of the period. */
  readonly day: string;
  /** Movements that were recorded after the period had ended, and what they moved. */
  readonly late: number;
  readonly lateMinor: bigint;
}

/** What a closing stores of a day. Days before its month are late postings. */
export interface ClosedDaySums extends DaySums {
  /** Transfers, each by itself. */
  readonly postedUpMinor: bigint;
  readonly postedDownMinor: bigint;
}

/** What is counted, by leg. `net`: less what was taken back. */
const MEASURES = {
  captured: { leg: 'captured', side: 'net', meaning: 'Captured' },
  voided: { leg: 'capture_voided', side: 'net', meaning: 'Captures voided' },
  refunded: { leg: 'settled', side: 'net', meaning: 'Refunded' },
  disputed: { leg: 'held', side: 'up', meaning: 'Disputed' },
  won: { leg: 'held', side: 'down', meaning: 'Disputes won or withdrawn' },
  lost: { leg: 'written_off', side: 'net', meaning: 'Disputes lost' },
  paid_out: { leg: 'delivered', side: 'net', meaning: 'Paid out' },
  payouts_reversed: { leg: 'reversed', side: 'net', meaning: 'Payouts reversed' },
} as const satisfies Record<
  string,
  { readonly leg: string; readonly side: 'net' | 'up' | 'down'; readonly meaning: string }
>;
export type MeasureName = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];

export function measureMeaning(name: MeasureName): string {
  return MEASURES[name].meaning;
}

export interface Measure {
  readonly count: number;
  readonly amountMinor: bigint;
}
export type Measures = Readonly<Record<MeasureName, Measure>>;

export interface AccountMovement {
  readonly account: Account;
  readonly debitedMinor: bigint;
  readonly creditedMinor: bigint;
}

export interface AccountLine extends AccountMovement {
  /** Debits minus credits. */
  readonly openingMinor: bigint;
  readonly closingMinor: bigint;
}

/**
 * What moved psp.clearing: resources of the service, fees and adjustments of settlement reports, and the bank.
 * Each leg that has clearing on one side is in one group.
 */
const CLEARING_GROUPS = {
  service: 'Payments, refunds, disputes and payouts',
  fees: 'Fees, by settlement reports',
  adjustments: 'Adjustments, and differences written off',
  bank: 'Received at the bank, less what was withdrawn',
} as const;
export type ClearingGroup = keyof typeof CLEARING_GROUPS;
export const CLEARING_GROUP_NAMES = Object.keys(CLEARING_GROUPS) as readonly ClearingGroup[];

export function clearingGroupMeaning(name: ClearingGroup): string {
  return CLEARING_GROUPS[name];
}

/** What a group added to psp.clearing; with late postings of earlier months. */
export interface ClearingMovement extends Measure {
  readonly group: ClearingGroup;
}

/** psp.clearing of a currency from the start of the period to its end (invariant 1). */
export interface ClearingLine {
  readonly openingMinor: bigint;
  readonly movements: readonly ClearingMovement[];
  readonly closingMinor: bigint;
}

/**
 * What was in clearing at the end of the period and why, by effective time and all that is known now. Without a
 * closing it adds up to the closing balances.
 */
export type UnmatchedClearing =
  | {
      readonly outcome: 'read';
      readonly clearing: readonly CurrencyClearing[];
      /** The oldest items of each currency. */
      readonly oldest: readonly ClearingItem[];
    }
  | { readonly outcome: 'not_read'; readonly reason: NotRead };

/**
 * Why what is unmatched is not read for a statement or a page. `not_imported`: no settlement report or bank statement.
 * `too_large`: the journal has so many transfers that it would take longer than they may.
 */
export type NotRead = 'not_imported' | 'too_large';

export interface DayLine {
  readonly day: string;
  readonly measures: Measures;
  readonly netMinor: bigint;
  readonly accounts: readonly AccountMovement[];
}

export interface CurrencyStatement {
  readonly currency: string;
  readonly accounts: readonly AccountLine[];
  readonly clearing: ClearingLine;
  readonly days: readonly DayLine[];
  readonly measures: Measures;
  /** Captured, less voided, refunded and lost. */
  readonly netMinor: bigint;
  /** Movements of the period that were recorded after it had ended. */
  readonly late: Measure;
}

/** What late postings moved, by month and leg. */
export interface LateSums extends MovedSums {
  /** The month to which they belong by their effective times. */
  readonly month: string;
  /** The month in which they are booked. */
  readonly bookedIn: string;
}

/** The late postings of one month and currency. */
export interface LateTotals {
  readonly month: string;
  readonly bookedIn: string;
  readonly currency: string;
  readonly measures: Measures;
  readonly netMinor: bigint;
}

/** A transfer that came after its month was closed. */
export interface LatePosting {
  /** Its number in the journal. */
  readonly number: number;
  readonly kind: JournalKind;
  readonly resourceId: string;
  readonly leg: string;
  readonly currency: string;
  readonly movedMinor: bigint;
  readonly effectiveMicros: number;
  readonly recordedMicros: number;
}

export interface LatePostings {
  readonly totals: readonly LateTotals[];
  /** The first ones, by number. */
  readonly first: readonly LatePosting[];
}

/** What closings make of a month. */
export type Booking =
  /** No month is closed in the time zone of the statement. `timeZone`: that of closed months, if any. */
  | { readonly kind: 'effective'; readonly timeZone: string | undefined }
  | {
      readonly kind: 'booked';
      /** The closing of the month; undefined: it is open, or before the first closed month. */
      readonly closing: Closing | undefined;
      /** The first closing, for a month before it: it closed this month, too. */
      readonly closedWith?: Closing;
      /** Every closing of the month, also those that are not in force. */
      readonly closings: readonly Closing[];
      /** What belongs to earlier months, which were closed, and is booked in this one. */
      readonly late: LatePostings;
      /** What belongs to this month, came after it was closed, and is booked in a later one. */
      readonly bookedLater: LatePostings;
    };

/** What was under way at the end of the period. */
export const OPEN_ITEMS = {
  hold: { kind: 'payment', plus: ['auth_opened'], minus: ['auth_consumed', 'auth_released'] },
  refund: { kind: 'refund', plus: ['requested'], minus: ['settled', 'released'] },
  dispute: { kind: 'dispute', plus: ['held'], minus: ['written_off'] },
  payout: { kind: 'payout', plus: ['initiated'], minus: ['delivered', 'returned'] },
} as const satisfies Record<
  string,
  {
    readonly kind: ResourceKind;
    readonly plus: readonly string[];
    readonly minus: readonly string[];
  }
>;
export type OpenItemName = keyof typeof OPEN_ITEMS;
export const OPEN_ITEM_NAMES = Object.keys(OPEN_ITEMS) as readonly OpenItemName[];

const OPEN_MEANINGS: Readonly<Record<OpenItemName, string>> = {
  hold: 'Open authorizations',
  refund: 'Refunds in flight',
  dispute: 'Disputes that hold money',
  payout: 'Payouts in transit',
};

export function openItemMeaning(name: OpenItemName): string {
  return OPEN_MEANINGS[name];
}

export interface OpenItems {
  readonly item: OpenItemName;
  readonly currency: string;
  readonly count: number;
  readonly amountMinor: bigint;
  /** The oldest ones. */
  readonly oldest: readonly {
    readonly id: string;
    readonly amountMinor: bigint;
    readonly sinceMicros: number;
  }[];
}

/** The order of the oldest open items. */
export function oldestFirst(
  one: OpenItems['oldest'][number],
  other: OpenItems['oldest'][number],
): number {
  if (one.sinceMicros !== other.sinceMicros) return one.sinceMicros - other.sinceMicros;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

/** A finding that was open at the end of the period, or accepted within it. */
export interface StatementFinding {
  readonly id: number;
  readonly class: string;
  readonly subject: string;
  readonly openedMicros: number;
  readonly isOpen: boolean;
  readonly acceptedMicros: number | null;
  readonly acceptedBy: string | null;
  readonly acceptedReason: string | null;
}

/** Which part of the period one list was compared with the service. */
export interface StreamCoverage {
  readonly stream: string;
  readonly runs: number;
  readonly lastComparedMicros: number | null;
  /** Differences that the runs found, and how many of them they repaired. */
  readonly found: number;
  readonly repaired: number;
  /** Spans of creation times that no run has compared. */
  readonly gaps: readonly { readonly fromMicros: number; readonly toMicros: number }[];
}

export interface Statement {
  readonly period: Period;
  /** When it was read; what was recorded later is not in it. */
  readonly knownMicros: number;
  readonly booking: Booking;
  readonly currencies: readonly CurrencyStatement[];
  readonly unmatched: UnmatchedClearing;
  readonly open: readonly OpenItems[];
  readonly findings: { readonly count: number; readonly oldest: readonly StatementFinding[] };
  readonly accepted: readonly StatementFinding[];
  /** Resources with a state that needs a retrieve now. */
  readonly uncertain: number;
  readonly coverage: readonly StreamCoverage[];
  /** The chain head when it was read; undefined before the first block. */
  readonly chainHead: SealedBlock | undefined;
}

/** Every leg by its name, which no other kind of resource has. */
const LEG_ACCOUNTS: Readonly<Record<string, Leg>> = Object.assign({}, ...Object.values(LEGS));

/** What pairs of accounts exchanged when legs moved. */
export function movedByLegs(sums: readonly LegSums[]): readonly MovedAmount[] {
  return sums.flatMap(({ currency, leg, upMinor, downMinor }) => {
    const { debit, credit } = accountsOf(leg);
    return [
      { debit, credit, currency, amountMinor: upMinor },
      { debit: credit, credit: debit, currency, amountMinor: downMinor },
    ].filter(({ amountMinor }) => amountMinor > 0n);
  });
}

function accountsOf(leg: string): Leg {
  const accounts = LEG_ACCOUNTS[leg];
  if (!accounts) throw new Error(`the journal has a leg ${leg}, which is unknown`);
  return accounts;
}

/** The sums from which the statements of currencies are built. */
export interface StatementSums {
  /** What each leg had moved before the period. */
  readonly opening: readonly LegSums[];
  readonly days: readonly DaySums[];
  readonly late: readonly LateSums[];
}

/** Builds the statements of the currencies (invariants 1 and 3). */
export function currencyStatements({
  opening: before,
  days,
  late,
}: StatementSums): readonly CurrencyStatement[] {
  const currencies = new Set([...before, ...days, ...late].map(({ currency }) => currency));
  return [...currencies].sort().map((currency) => {
    const inCurrency = (one: LegSums) => one.currency === currency;
    const own = days.filter(inCurrency);
    const booked = [...own, ...late.filter(inCurrency)];
    const opening = accountMovements(before.filter(inCurrency));
    const moved = accountMovements(booked);
    const accounts = ACCOUNT_NAMES.flatMap((account) => accountLine(account, opening, moved));
    const measures = measuresOf(own);
    return {
      currency,
      accounts,
      clearing: clearingLine(accounts, booked),
      days: [...new Set(own.map(({ day }) => day))].sort().map((day) => dayLine(day, own)),
      measures,
      netMinor: netOf(measures),
      late: {
        count: sumMinor(own.map((one) => one.late)),
        amountMinor: own.reduce((sum, { lateMinor }) => sum + lateMinor, 0n),
      },
    };
  });
}

/** The totals of late postings, by the months to which they belong and in which they are booked. */
export function lateTotals(sums: readonly LateSums[]): readonly LateTotals[] {
  const nameOf = (one: LateSums) => `${one.month} ${one.bookedIn} ${one.currency}`;
  return [...new Set(sums.map(nameOf))].sort().flatMap((name) => {
    const own = sums.filter((one) => nameOf(one) === name);
    const [first] = own;
    if (!first) return [];
    const { month, bookedIn, currency } = first;
    const measures = measuresOf(own);
    return [{ month, bookedIn, currency, measures, netMinor: netOf(measures) }];
  });
}

type Movements = ReadonlyMap<Account, AccountMovement>;

function accountMovements(sums: readonly LegSums[]): Movements {
  const movements = new Map<Account, AccountMovement>();
  const post = (account: Account, debitedMinor: bigint, creditedMinor: bigint) => {
    const known = movements.get(account) ?? { account, debitedMinor: 0n, creditedMinor: 0n };
    movements.set(account, {
      account,
      debitedMinor: known.debitedMinor + debitedMinor,
      creditedMinor: known.creditedMinor + creditedMinor,
    });
  };
  for (const { leg, upMinor, downMinor } of sums) {
    const accounts = accountsOf(leg);
    post(accounts.debit, upMinor, downMinor);
    post(accounts.credit, downMinor, upMinor);
  }
  return movements;
}

function accountLine(
  account: Account,
  opening: Movements,
  moved: Movements,
): readonly AccountLine[] {
  const [before, own] = [opening.get(account), moved.get(account)];
  if (!before && !own) return [];
  const { debitedMinor, creditedMinor } = own ?? { debitedMinor: 0n, creditedMinor: 0n };
  const openingMinor = before ? before.debitedMinor - before.creditedMinor : 0n;
  const closingMinor = openingMinor + debitedMinor - creditedMinor;
  return [{ account, openingMinor, debitedMinor, creditedMinor, closingMinor }];
}

const CLEARING: Account = 'psp.clearing';

function clearingLine(
  accounts: readonly AccountLine[],
  booked: readonly MovedSums[],
): ClearingLine {
  const { openingMinor = 0n, closingMinor = 0n } =
    accounts.find(({ account }) => account === CLEARING) ?? {};
  const movements = CLEARING_GROUP_NAMES.map((group) => {
    const own = booked.filter(({ leg }) => clearingGroupOf(leg) === group);
    return {
      group,
      count: sumMinor(own.map(({ ups, downs }) => ups + downs)),
      amountMinor: own.reduce((sum, one) => sum + addedToClearing(one), 0n),
    };
  });
  return { openingMinor, movements, closingMinor };
}

/** Undefined: the leg moves nothing to or from clearing. */
function clearingGroupOf(leg: string): ClearingGroup | undefined {
  const { debit, credit } = accountsOf(leg);
  if (debit !== CLEARING && credit !== CLEARING) return undefined;
  switch (debit === CLEARING ? credit : debit) {
    case 'fees.service':
      return 'fees';
    case 'service.adjustments':
      return 'adjustments';
    case 'bank.account':
      return 'bank';
    default:
      return 'service';
  }
}

function addedToClearing({ leg, upMinor, downMinor }: MovedSums): bigint {
  const movedMinor = upMinor - downMinor;
  return accountsOf(leg).debit === CLEARING ? movedMinor : -movedMinor;
}

function dayLine(day: string, sums: readonly DaySums[]): DayLine {
  const own = sums.filter((one) => one.day === day);
  const measures = measuresOf(own);
  return {
    day,
    measures,
    netMinor: netOf(measures),
    accounts: [...accountMovements(own).values()],
  };
}

function measuresOf(sums: readonly MovedSums[]): Measures {
  return Object.fromEntries(
    MEASURE_NAMES.map((name): [MeasureName, Measure] => {
      const { leg, side } = MEASURES[name];
      const own = sums.filter((one) => one.leg === leg);
      const total = (read: (one: MovedSums) => bigint) =>
        own.reduce((sum, one) => sum + read(one), 0n);
      const [up, down] = [total(({ upMinor }) => upMinor), total(({ downMinor }) => downMinor)];
      const amounts = { net: up - down, up, down };
      const count = sumMinor(own.map(({ ups, downs }) => (side === 'down' ? downs : ups)));
      return [name, { count, amountMinor: amounts[side] }];
    }),
  ) as Measures;
}

function netOf({ captured, voided, refunded, lost }: Measures): bigint {
  return captured.amountMinor - voided.amountMinor - refunded.amountMinor - lost.amountMinor;
}

/**
 * The statement of a month. Terms: the *period* is a calendar month in a time zone, from its first instant
 * to the first instant of the next month. A movement is what a resource moved on a leg at one effective
 * time: transfers that correct each other count as one, or not at all.
 *
 * 1. The opening balance of an account is the sum of everything that was effective before the period, and
 *    the closing balance is the opening balance with the movements of the period.
 * 2. Every figure is a function of effective times, so it does not depend on when Tallyhook recorded it.
 * 3. Amounts are exact integers of minor units, of any size, each in one currency.
 */
import { sumMinor } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { MovedAmount } from './balances.ts';
import { ACCOUNT_NAMES, type Account, LEGS, type Leg } from './legs.ts';

export interface Period {
  /** `2026-10` */
  readonly month: string;
  readonly timeZone: string;
  /** The first instant that belongs to it, and the first that does not; microseconds since 1970. */
  readonly fromMicros: number;
  readonly toMicros: number;
}

/** Microseconds are safe integers until 2255. */
const MONTH = /^(?:19[7-9]\d|20\d{2}|21\d{2})-(?:0[1-9]|1[0-2])$/;

/** Whether a text is a month such as `2026-10`, from 1970 to 2199. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** Whether a text is the name of a time zone such as `Europe/Berlin`; an offset is none. */
export function isTimeZone(text: string): boolean {
  return text === 'UTC' || Intl.supportedValuesOf('timeZone').includes(text);
}

/** The month some months later; negative: earlier. */
export function monthAfter(month: string, months: number): string {
  const [year = '', number = ''] = month.split('-');
  const date = new Date(Date.UTC(Number(year), Number(number) - 1 + months, 1));
  return date.toISOString().slice(0, 7);
}

/** What a leg moved: forward (up), and what it took back (down). */
export interface LegSums {
  readonly currency: string;
  readonly leg: string;
  readonly upMinor: bigint;
  readonly downMinor: bigint;
}

/** The movements of one day of the period. */
export interface DaySums extends LegSums {
  /** `2026-10-31`, in the time zone of the period. */
  readonly day: string;
  readonly ups: number;
  readonly downs: number;
  /** Movements that were recorded after the period had ended, and what they moved. */
  readonly late: number;
  readonly lateMinor: bigint;
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

export interface DayLine {
  readonly day: string;
  readonly measures: Measures;
  readonly netMinor: bigint;
  readonly accounts: readonly AccountMovement[];
}

export interface CurrencyStatement {
  readonly currency: string;
  readonly accounts: readonly AccountLine[];
  readonly days: readonly DayLine[];
  readonly measures: Measures;
  /** Captured, less voided, refunded and lost. */
  readonly netMinor: bigint;
  /** Movements of the period that were recorded after it had ended. */
  readonly late: Measure;
}

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
  readonly currencies: readonly CurrencyStatement[];
  readonly open: readonly OpenItems[];
  readonly findings: { readonly count: number; readonly oldest: readonly StatementFinding[] };
  readonly accepted: readonly StatementFinding[];
  /** Resources with a state that needs a retrieve now. */
  readonly uncertain: number;
  readonly coverage: readonly StreamCoverage[];
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

/** Builds the statements of the currencies (invariant 1). */
export function currencyStatements(
  before: readonly LegSums[],
  days: readonly DaySums[],
): readonly CurrencyStatement[] {
  const currencies = new Set([...before, ...days].map(({ currency }) => currency));
  return [...currencies].sort().map((currency) => {
    const own = days.filter((one) => one.currency === currency);
    const opening = accountMovements(before.filter((one) => one.currency === currency));
    const moved = accountMovements(own);
    const measures = measuresOf(own);
    return {
      currency,
      accounts: ACCOUNT_NAMES.flatMap((account) => accountLine(account, opening, moved)),
      days: [...new Set(own.map(({ day }) => day))].sort().map((day) => dayLine(day, own)),
      measures,
      netMinor: netOf(measures),
      late: {
        count: sumMinor(own.map(({ late }) => late)),
        amountMinor: own.reduce((sum, { lateMinor }) => sum + lateMinor, 0n),
      },
    };
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

function measuresOf(sums: readonly DaySums[]): Measures {
  return Object.fromEntries(
    MEASURE_NAMES.map((name): [MeasureName, Measure] => {
      const { leg, side } = MEASURES[name];
      const own = sums.filter((one) => one.leg === leg);
      const total = (read: (one: DaySums) => bigint) =>
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

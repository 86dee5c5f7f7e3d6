/** The statement of a month as JSON and as CSV. */
import { formatAmount, toSafeInteger } from '../contract/money.ts';
import { csvField } from '../ledger/domain/journalFormats.ts';
import {
  type Booking,
  type ClearingLine,
  type CurrencyStatement,
  type DayLine,
  type LatePostings,
  type LateTotals,
  MEASURE_NAMES,
  type Measures,
  type OpenItems,
  type Statement,
  type StatementFinding,
  type StreamCoverage,
  type UnmatchedClearing,
} from '../ledger/domain/statement.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import { headJson } from './chain.ts';
import { closingJson } from './closing.ts';
import { clearingItemJson, clearingJson } from './settlement.ts';

const NOTHING: LatePostings = { totals: [], first: [] };

/** What is closed and what came late, also where no month is closed. */
function bookedOf(booking: Booking) {
  return booking.kind === 'booked'
    ? booking
    : { closing: undefined, closings: [], late: NOTHING, bookedLater: NOTHING };
}

export function statementJson({ period, knownMicros, booking, ...statement }: Statement) {
  const { closing, closings, late, bookedLater } = bookedOf(booking);
  return {
    month: period.month,
    time_zone: period.timeZone,
    from: formatInstant(period.fromMicros),
    to: formatInstant(period.toMicros),
    known_at: formatInstant(knownMicros),
    closing: closing ? closingJson(closing) : null,
    closings: closings.map(closingJson),
    closed_in: booking.kind === 'effective' ? (booking.timeZone ?? null) : period.timeZone,
    late_postings: latePostingsJson(late),
    booked_later: latePostingsJson(bookedLater),
    currencies: statement.currencies.map(currencyJson),
    ...unmatchedJson(statement.unmatched),
    open_items: statement.open.map(openItemsJson),
    open_findings: {
      count: statement.findings.count,
      oldest: statement.findings.oldest.map(findingJson),
    },
    accepted_findings: statement.accepted.map(findingJson),
    uncertain_resources: statement.uncertain,
    coverage: statement.coverage.map(coverageJson),
    chain_head: statement.chainHead ? headJson(statement.chainHead) : null,
  };
}

function latePostingsJson({ totals, first }: LatePostings) {
  return {
    totals: totals.map(({ month, bookedIn, currency, measures, netMinor }) => ({
      month,
      booked_in: bookedIn,
      currency,
      totals: measuresJson(measures),
      net: toSafeInteger(netMinor),
    })),
    first: first.map((one) => ({
      transfer: one.number,
      kind: one.kind,
      resource_id: one.resourceId,
      leg: one.leg,
      currency: one.currency,
      amount: toSafeInteger(one.movedMinor),
      effective_at: formatInstant(one.effectiveMicros),
      recorded_at: formatInstant(one.recordedMicros),
    })),
  };
}

function currencyJson(one: CurrencyStatement) {
  return {
    currency: one.currency,
    totals: measuresJson(one.measures),
    net: toSafeInteger(one.netMinor),
    recorded_late: { count: one.late.count, amount: toSafeInteger(one.late.amountMinor) },
    accounts: one.accounts.map((line) => ({
      account: line.account,
      opening: toSafeInteger(line.openingMinor),
      amount_debited: toSafeInteger(line.debitedMinor),
      amount_credited: toSafeInteger(line.creditedMinor),
      closing: toSafeInteger(line.closingMinor),
    })),
    clearing: clearingLineJson(one.clearing),
    days: one.days.map(dayJson),
  };
}

function clearingLineJson({ openingMinor, movements, closingMinor }: ClearingLine) {
  return {
    opening: toSafeInteger(openingMinor),
    movements: movements.map(({ group, count, amountMinor }) => ({
      name: group,
      count,
      amount: toSafeInteger(amountMinor),
    })),
    closing: toSafeInteger(closingMinor),
  };
}

function unmatchedJson(unmatched: UnmatchedClearing) {
  if (unmatched.outcome === 'not_read') return { unmatched: null, not_matched: unmatched.reason };
  const { clearing, oldest } = unmatched;
  return {
    unmatched: { clearing: clearing.map(clearingJson), oldest: oldest.map(clearingItemJson) },
    not_matched: null,
  };
}

function dayJson({ day, measures, netMinor, accounts }: DayLine) {
  return {
    day,
    totals: measuresJson(measures),
    net: toSafeInteger(netMinor),
    accounts: accounts.map(({ account, debitedMinor, creditedMinor }) => ({
      account,
      amount_debited: toSafeInteger(debitedMinor),
      amount_credited: toSafeInteger(creditedMinor),
    })),
  };
}

function measuresJson(measures: Measures) {
  return MEASURE_NAMES.map((name) => ({
    name,
    count: measures[name].count,
    amount: toSafeInteger(measures[name].amountMinor),
  }));
}

function openItemsJson({ item, currency, count, amountMinor, oldest }: OpenItems) {
  return {
    item,
    currency,
    count,
    amount: toSafeInteger(amountMinor),
    oldest: oldest.map((one) => ({
      id: one.id,
      amount: toSafeInteger(one.amountMinor),
      since: formatInstant(one.sinceMicros),
    })),
  };
}

function findingJson(finding: StatementFinding) {
  return {
    number: finding.id,
    class: finding.class,
    subject: finding.subject,
    opened_at: formatInstant(finding.openedMicros),
    open_at_end: finding.isOpen,
    accepted_at: finding.acceptedMicros === null ? null : formatInstant(finding.acceptedMicros),
    accepted_by: finding.acceptedBy,
    accepted_reason: finding.acceptedReason,
  };
}

function coverageJson(one: StreamCoverage) {
  return {
    list: one.stream,
    runs: one.runs,
    last_compared_at:
      one.lastComparedMicros === null ? null : formatInstant(one.lastComparedMicros),
    found: one.found,
    repaired: one.repaired,
    not_compared: one.gaps.map(({ fromMicros, toMicros }) => ({
      from: formatInstant(fromMicros),
      to: formatInstant(toMicros),
    })),
  };
}

const CSV_HEADING = [
  'month',
  'time_zone',
  'currency',
  'row',
  'day',
  'name',
  'count',
  'debited',
  'credited',
  'amount',
];

/**
 * One table of everything with an amount: opening and closing balances, movements by day and account, those of
 * late postings by account (`late_movement`), the totals of the month and its days, what moved psp.clearing, and
 * late postings, where `day` is the month to which they belong (`late_posting`) or in which they are booked
 * (`booked_later`). What is `unmatched` has the day (UTC) of its oldest item. Amounts are decimals of their
 * currency. The opening balance of an account and its movements add up to its closing balance.
 */
export function statementCsv({ period, currencies, open, booking, unmatched }: Statement): string {
  const { month, timeZone } = period;
  const { late, bookedLater } = bookedOf(booking);
  const rows = [
    ...currencies.flatMap((one) => currencyRows(one)),
    ...late.totals.flatMap((one) => lateRows('late_posting', one.month, one)),
    ...bookedLater.totals.flatMap((one) => lateRows('booked_later', one.bookedIn, one)),
    ...open.map(({ item, currency, count, amountMinor }) =>
      row(currency, 'open', { name: item, count, amount: amountMinor }),
    ),
    ...(unmatched.outcome === 'read' ? unmatched.clearing : []).flatMap(({ currency, parts }) =>
      parts.map(({ part, items, amountMinor, sinceMicros }) =>
        row(currency, 'unmatched', {
          name: part,
          count: items,
          amount: amountMinor,
          day: formatInstant(sinceMicros).slice(0, 10),
        }),
      ),
    ),
  ];
  return [CSV_HEADING, ...rows.map((cells) => [month, timeZone, ...cells])]
    .map((cells) => `${cells.map(csvField).join(',')}\n`)
    .join('');
}

interface Cells {
  readonly day?: string;
  readonly name: string;
  readonly count?: number;
  readonly debited?: bigint;
  readonly credited?: bigint;
  readonly amount?: bigint;
}

function row(
  currency: string,
  kind: string,
  { day = '', name, count, debited, credited, amount }: Cells,
): readonly string[] {
  const money = (minor: bigint | undefined) =>
    minor === undefined ? '' : formatAmount(minor, currency);
  const counted = count === undefined ? '' : String(count);
  return [currency, kind, day, name, counted, money(debited), money(credited), money(amount)];
}

function currencyRows(one: CurrencyStatement): readonly (readonly string[])[] {
  const { currency } = one;
  return [
    ...one.accounts.map(({ account, openingMinor }) =>
      row(currency, 'opening', { name: account, amount: openingMinor }),
    ),
    ...one.days.flatMap(({ day, accounts, measures, netMinor }) => [
      ...accounts.map(({ account, debitedMinor: debited, creditedMinor: credited }) =>
        row(currency, 'movement', { day, name: account, debited, credited }),
      ),
      ...measureRows(currency, 'day', measures, day),
      row(currency, 'day', { day, name: 'net', amount: netMinor }),
    ]),
    ...lateMovementRows(one),
    ...one.accounts.map(({ account, closingMinor }) =>
      row(currency, 'closing', { name: account, amount: closingMinor }),
    ),
    ...measureRows(currency, 'total', one.measures),
    row(currency, 'total', { name: 'net', amount: one.netMinor }),
    ...one.clearing.movements.map(({ group, count, amountMinor: amount }) =>
      row(currency, 'clearing', { name: group, count, amount }),
    ),
    row(currency, 'recorded_late', {
      name: 'movements',
      count: one.late.count,
      amount: one.late.amountMinor,
    }),
  ];
}

/** What moved an account and is on no day of the month. */
function lateMovementRows({
  currency,
  accounts,
  days,
}: CurrencyStatement): readonly (readonly string[])[] {
  return accounts.flatMap(({ account, debitedMinor, creditedMinor }) => {
    const own = days.flatMap((day) => day.accounts.filter((one) => one.account === account));
    const debited = own.reduce((rest, one) => rest - one.debitedMinor, debitedMinor);
    const credited = own.reduce((rest, one) => rest - one.creditedMinor, creditedMinor);
    if (debited === 0n && credited === 0n) return [];
    return [row(currency, 'late_movement', { name: account, debited, credited })];
  });
}

function lateRows(
  kind: 'late_posting' | 'booked_later',
  day: string,
  { currency, measures, netMinor }: LateTotals,
): readonly (readonly string[])[] {
  return [
    ...measureRows(currency, kind, measures, day),
    row(currency, kind, { day, name: 'net', amount: netMinor }),
  ];
}

function measureRows(
  currency: string,
  kind: 'day' | 'total' | 'late_posting' | 'booked_later',
  measures: Measures,
  day = '',
): readonly (readonly string[])[] {
  return MEASURE_NAMES.map((name) => {
    const { count, amountMinor: amount } = measures[name];
    return row(currency, kind, { day, name, count, amount });
  });
}

/** The statement of a month as tables of text, for the terminal and for the page. */
import { formatMoney } from '../contract/money.ts';
import { formatHead } from '../ledger/domain/chain.ts';
import {
  CLEARING_PARTS,
  type ClearingItem,
  type CurrencyClearing,
} from '../ledger/domain/clearing.ts';
import { type Closing, EXCEPTIONS } from '../ledger/domain/closings.ts';
import type { Period } from '../ledger/domain/period.ts';
import {
  type Booking,
  type CurrencyStatement,
  clearingGroupMeaning,
  type LatePostings,
  type LateTotals,
  MEASURE_NAMES,
  measureMeaning,
  type NotRead,
  openItemMeaning,
  type Statement,
  type StatementFinding,
} from '../ledger/domain/statement.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import { counted } from '../platform/counted.ts';
import { sealedWith } from './closing.ts';

export interface TextTable {
  readonly title: string;
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly string[])[];
  /** Shown instead of an empty table. */
  readonly empty: string;
}

interface TextColumn {
  readonly title: string;
  readonly isNumber: boolean;
}

export interface StatementText {
  readonly title: string;
  readonly facts: readonly string[];
  readonly currencies: readonly {
    readonly currency: string;
    readonly tables: readonly TextTable[];
  }[];
  /** What was unproven when the month was closed, and late postings. */
  readonly closing: readonly TextTable[];
  /** What is in psp.clearing, and unmatched. */
  readonly clearing: readonly TextTable[];
  /** What was open. */
  readonly tables: readonly TextTable[];
}

const text = (title: string): TextColumn => ({ title, isNumber: false });
const number = (title: string): TextColumn => ({ title, isNumber: true });

export function statementText(statement: Statement): StatementText {
  const { period, knownMicros, booking, chainHead } = statement;
  const { fromMicros, toMicros, month, timeZone } = period;
  const isOver = knownMicros >= toMicros;
  // A time in UTC has it beside it.
  const zone = timeZone === 'UTC' ? '' : `, ${timeZone}`;
  const late = booking.kind === 'booked' ? booking.late.totals : [];
  return {
    title: `Statement of ${month}`,
    facts: [
      `${localTime(fromMicros, timeZone)} to ${localTime(toMicros, timeZone)}${zone}, by the time at which ` +
        'the service moved the money.',
      ...closingFacts(booking, period),
      `As it was known at ${localTime(knownMicros, timeZone)}${zone}.` +
        (isOver ? '' : ' The month is not over.'),
      ...(chainHead ? [`Head of the chain of the journal: ${formatHead(chainHead)}`] : []),
    ],
    currencies: statement.currencies.map((one) => ({
      currency: one.currency,
      tables: [
        totalsTable(
          one,
          late.filter(({ currency }) => currency === one.currency),
        ),
        accountsTable(one),
        clearingLineTable(one),
        daysTable(one),
      ],
    })),
    closing: closingTables(booking, period),
    clearing: unmatchedTables(statement),
    tables: [
      openTable(statement),
      oldestTable(statement),
      findingsTable(statement),
      acceptedTable(statement),
      coverageTable(statement),
    ],
  };
}

/** Whether the sums can still change. */
function closingFacts(booking: Booking, { month, timeZone }: Period): readonly string[] {
  if (booking.kind === 'effective') {
    return booking.timeZone === undefined
      ? []
      : [
          `Months are closed in ${booking.timeZone}. These are the months of ${timeZone}, so closings and ` +
            'late postings are not considered.',
        ];
  }
  const { closing, closedWith, closings, bookedLater } = booking;
  const later =
    bookedLater.totals.length === 0
      ? 'Nothing that belongs to this month arrived after it was closed.'
      : 'What arrived after it was closed is listed below. It is booked in a later month, and not in these sums.';
  if (closedWith) {
    return [`Closed with ${closedWith.month}, the first month that was closed by itself.`, later];
  }
  if (!closing) {
    return closings.length === 0 ? [] : [`${month} was closed, and is open again.`];
  }
  const { closedMicros, closedBy, version, reason, exceptions, seal } = closing;
  const why = reason === null ? '' : ` Reason: ${reason.replace(/\.$/, '')}.`;
  const unproven =
    exceptions.length === 0
      ? 'Nothing was unproven.'
      : `With ${counted(exceptions.length, 'exception')}, listed below.`;
  return [
    `Closed at ${localTime(closedMicros, timeZone)} by ${closedBy}, version ${version}. ${unproven}${why}`,
    seal
      ? `Sealed with the chain head ${sealedWith(seal)}`
      : 'Not sealed yet: the scheduler seals a closing within minutes.',
    later,
  ];
}

function closingTables(booking: Booking, period: Period): readonly TextTable[] {
  if (booking.kind === 'effective') return [];
  const { closing, closings, late, bookedLater } = booking;
  return [
    ...(closing && closing.exceptions.length > 0 ? [exceptionsTable(closing)] : []),
    ...lateTables(bookedLater, { title: 'Arrived after the closing', other: 'Booked in' }, period),
    ...lateTables(
      late,
      { title: 'Late postings of earlier months, booked in this one', other: 'Belongs to' },
      period,
    ),
    ...(closings.length > 1 || (closings.length === 1 && !closing)
      ? [versionsTable(closings, period)]
      : []),
  ];
}

function exceptionsTable({ exceptions }: Closing): TextTable {
  return {
    title: 'What was unproven when the month was closed',
    columns: [text('What'), number('Count'), text('Which')],
    rows: exceptions.map(({ kind, count, examples }) => [
      EXCEPTIONS[kind],
      String(count),
      `${examples.join(', ')}${count > examples.length ? ', …' : ''}`,
    ]),
    empty: 'Nothing.',
  };
}

interface LateNames {
  readonly title: string;
  /** What the other month is. */
  readonly other: 'Belongs to' | 'Booked in';
}

function lateTables(
  { totals, first }: LatePostings,
  { title, other }: LateNames,
  { timeZone }: Period,
): readonly TextTable[] {
  if (totals.length === 0) return [];
  const isBelonging = other === 'Belongs to';
  return [
    {
      title,
      columns: [text(other), text('What'), number('Count'), number('Amount')],
      rows: totals.flatMap(({ month, bookedIn, currency, measures, netMinor }) => {
        const where = isBelonging ? month : bookedIn;
        return [
          ...MEASURE_NAMES.filter((name) => measures[name].count > 0).map((name) => [
            where,
            measureMeaning(name),
            String(measures[name].count),
            formatMoney(measures[name].amountMinor, currency),
          ]),
          [where, 'Net', '', formatMoney(netMinor, currency)],
        ];
      }),
      empty: 'Nothing.',
    },
    {
      title: `${title}: the first transfers`,
      columns: [
        number('Transfer'),
        text('Resource'),
        text('Leg'),
        number('Amount'),
        text('Moved'),
        text('Recorded'),
      ],
      rows: first.map((one) => [
        String(one.number),
        `${one.kind} ${one.resourceId}`,
        one.leg,
        formatMoney(one.movedMinor, one.currency),
        localTime(one.effectiveMicros, timeZone),
        localTime(one.recordedMicros, timeZone),
      ]),
      empty: 'Nothing.',
    },
  ];
}

function versionsTable(closings: readonly Closing[], { timeZone }: Period): TextTable {
  return {
    title: 'Closings of this month',
    columns: [
      number('Version'),
      text('Closed'),
      text('By'),
      text('Reopened'),
      text('By'),
      text('Why'),
    ],
    rows: closings.map((one) => [
      String(one.version),
      localTime(one.closedMicros, timeZone),
      one.closedBy,
      one.reopenedMicros === null ? '' : localTime(one.reopenedMicros, timeZone),
      one.reopenedBy ?? '',
      one.reopenedReason ?? '',
    ]),
    empty: 'None.',
  };
}

function totalsTable(one: CurrencyStatement, late: readonly LateTotals[]): TextTable {
  const money = (minor: bigint) => formatMoney(minor, one.currency);
  const lateNet = late.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  return {
    title: 'Totals',
    columns: [text('What'), number('Count'), number('Amount')],
    rows: [
      ...MEASURE_NAMES.map((name) => {
        const { count, amountMinor } = one.measures[name];
        return [measureMeaning(name), String(count), money(amountMinor)];
      }),
      ['Net: captured, less voided, refunded and lost', '', money(one.netMinor)],
      ...(late.length === 0
        ? []
        : [
            ['Net of late postings of earlier months', '', money(lateNet)],
            ['Net as booked in this month', '', money(one.netMinor + lateNet)],
          ]),
      [
        'Of all movements, recorded after the month had ended',
        String(one.late.count),
        money(one.late.amountMinor),
      ],
    ],
    empty: 'Nothing moved.',
  };
}

function accountsTable({ currency, accounts }: CurrencyStatement): TextTable {
  const money = (minor: bigint) => formatMoney(minor, currency);
  return {
    title: 'Accounts',
    columns: [text('Account'), ...['Opening', 'Debited', 'Credited', 'Closing'].map(number)],
    rows: accounts.map((line) => [
      line.account,
      money(line.openingMinor),
      money(line.debitedMinor),
      money(line.creditedMinor),
      money(line.closingMinor),
    ]),
    empty: 'No account has a balance.',
  };
}

function clearingLineTable({ currency, clearing }: CurrencyStatement): TextTable {
  const money = (minor: bigint) => formatMoney(minor, currency);
  return {
    title: 'What the service holds, psp.clearing',
    columns: [text('What'), number('Count'), number('Amount')],
    rows: [
      ['At the start of the month', '', money(clearing.openingMinor)],
      ...clearing.movements.map(({ group, count, amountMinor }) => [
        clearingGroupMeaning(group),
        String(count),
        money(amountMinor),
      ]),
      ['At the end of the month', '', money(clearing.closingMinor)],
    ],
    empty: 'Nothing was held.',
  };
}

const NOT_READ: Readonly<Record<NotRead, string>> = {
  not_imported:
    'No settlement report or bank statement was imported: tallyhook settle import reads them.',
  too_large:
    'The journal is too large to match it in a statement: tallyhook settle unmatched lists what is unmatched now.',
};

const EVERYTHING_MATCHED = 'Everything is matched.';

function unmatchedTables(statement: Statement): readonly TextTable[] {
  const { unmatched } = statement;
  switch (unmatched.outcome) {
    case 'read':
      return [
        unmatchedTable(statement, unmatched.clearing, EVERYTHING_MATCHED),
        oldestUnmatchedTable(statement, unmatched.oldest),
      ];
    case 'not_read':
      return [unmatchedTable(statement, [], NOT_READ[unmatched.reason])];
  }
}

function unmatchedTable(
  statement: Statement,
  clearing: readonly CurrencyClearing[],
  empty: string,
): TextTable {
  return {
    title: 'Unmatched at the end of the month, as it is known now',
    columns: [text('Why'), number('Items'), number('Amount'), number('Days of the oldest')],
    rows: clearing.flatMap(({ currency, balanceMinor, parts }) => [
      ...parts.map(({ part, items, amountMinor, sinceMicros }) => [
        CLEARING_PARTS[part],
        String(items),
        formatMoney(amountMinor, currency),
        ageOf(statement, sinceMicros),
      ]),
      ['Together', '', formatMoney(balanceMinor, currency), ''],
    ]),
    empty,
  };
}

function oldestUnmatchedTable(statement: Statement, oldest: readonly ClearingItem[]): TextTable {
  return {
    title: 'The oldest unmatched',
    columns: [text('What'), text('Names'), text('Why'), number('Amount'), number('Days')],
    rows: oldest.map(({ subject, reference, part, amountMinor, currency, sinceMicros }) => [
      subject.replace(':', ' '),
      reference ?? '',
      CLEARING_PARTS[part],
      formatMoney(amountMinor, currency),
      ageOf(statement, sinceMicros),
    ]),
    empty: EVERYTHING_MATCHED,
  };
}

function daysTable({ currency, days }: CurrencyStatement): TextTable {
  const money = (minor: bigint) => (minor === 0n ? '–' : formatMoney(minor, currency));
  return {
    title: 'Days',
    columns: [
      text('Day'),
      ...['Captured', 'Voided', 'Refunded', 'Disputes lost', 'Net', 'Paid out'].map(number),
    ],
    rows: days.map(({ day, measures, netMinor }) => [
      day,
      money(measures.captured.amountMinor),
      money(measures.voided.amountMinor),
      money(measures.refunded.amountMinor),
      money(measures.lost.amountMinor),
      money(netMinor),
      money(measures.paid_out.amountMinor),
    ]),
    empty: 'Nothing moved in this month.',
  };
}

function openTable({ open }: Statement): TextTable {
  return {
    title: 'Under way at the end of the month',
    columns: [text('What'), number('Count'), number('Amount')],
    rows: open.map(({ item, currency, count, amountMinor }) => [
      openItemMeaning(item),
      String(count),
      formatMoney(amountMinor, currency),
    ]),
    empty: 'Nothing was under way.',
  };
}

function oldestTable({ open, ...statement }: Statement): TextTable {
  return {
    title: 'The oldest of these',
    columns: [text('What'), text('Id'), number('Amount'), number('Days')],
    rows: open.flatMap(({ item, currency, oldest }) =>
      oldest.map(({ id, amountMinor, sinceMicros }) => [
        openItemMeaning(item),
        id,
        formatMoney(amountMinor, currency),
        ageOf(statement, sinceMicros),
      ]),
    ),
    empty: 'Nothing was under way.',
  };
}

function findingsTable({ findings, uncertain, ...statement }: Statement): TextTable {
  return {
    title: `Findings open at the end of the month: ${findings.count}. Uncertain now: ${uncertain}`,
    columns: [number('Finding'), text('Class'), text('Subject'), number('Days')],
    rows: findings.oldest.map(({ id, class: name, subject, openedMicros }) => [
      String(id),
      name,
      subject,
      ageOf(statement, openedMicros),
    ]),
    empty: 'No finding was open.',
  };
}

function acceptedTable({ accepted, period }: Statement): TextTable {
  return {
    title: 'Findings accepted in this month',
    columns: [
      number('Finding'),
      text('Class'),
      text('Subject'),
      text('By'),
      text('When'),
      text('Why'),
    ],
    rows: accepted.map((finding) => [
      String(finding.id),
      finding.class,
      finding.subject,
      finding.acceptedBy ?? '',
      acceptedAt(finding, period),
      finding.acceptedReason ?? '',
    ]),
    empty: 'None.',
  };
}

function acceptedAt({ acceptedMicros }: StatementFinding, { timeZone }: Period): string {
  return acceptedMicros === null ? '' : localTime(acceptedMicros, timeZone);
}

function coverageTable({ coverage, period: { timeZone } }: Statement): TextTable {
  const local = (micros: number) => localTime(micros, timeZone);
  return {
    title: 'Compared with the service',
    columns: [
      text('List'),
      number('Runs'),
      text('Last'),
      number('Differences'),
      number('Repaired'),
      text('Not compared'),
    ],
    rows: coverage.map(({ stream, runs, lastComparedMicros, found, repaired, gaps }) => [
      stream,
      String(runs),
      lastComparedMicros === null ? 'never' : local(lastComparedMicros),
      String(found),
      String(repaired),
      gaps.length === 0
        ? 'nothing'
        : gaps
            .map(({ fromMicros, toMicros }) => `${local(fromMicros)} to ${local(toMicros)}`)
            .join('; '),
    ]),
    empty: 'Nothing was compared.',
  };
}

const DAY_MICROS = 86_400_000_000;

/** Whole days up to the end of the month; up to now while it is not over. */
function ageOf(
  { period, knownMicros }: Pick<Statement, 'period' | 'knownMicros'>,
  sinceMicros: number,
): string {
  const endMicros = Math.min(period.toMicros, knownMicros);
  return String(Math.max(0, Math.floor((endMicros - sinceMicros) / DAY_MICROS)));
}

/** A time in a zone, to the minute; in UTC beside its name. */
function localTime(micros: number, timeZone: string): string {
  if (timeZone === 'UTC') return `${formatInstant(micros).slice(0, 16).replace('T', ' ')} UTC`;
  return new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone,
  }).format(micros / 1000);
}

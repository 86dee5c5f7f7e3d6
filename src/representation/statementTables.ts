/** The statement of a month as tables of text, for the terminal and for the page. */
import { formatMoney } from '../contract/money.ts';
import {
  type CurrencyStatement,
  MEASURE_NAMES,
  measureMeaning,
  openItemMeaning,
  type Period,
  type Statement,
  type StatementFinding,
} from '../ledger/domain/statement.ts';
import { formatInstant } from '../ledger/domain/time.ts';

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
  readonly tables: readonly TextTable[];
}

const text = (title: string): TextColumn => ({ title, isNumber: false });
const number = (title: string): TextColumn => ({ title, isNumber: true });

export function statementText(statement: Statement): StatementText {
  const { period, knownMicros } = statement;
  const { fromMicros, toMicros, month, timeZone } = period;
  const isOver = knownMicros >= toMicros;
  return {
    title: `Statement of ${month}`,
    facts: [
      `${localTime(fromMicros, timeZone)} to ${localTime(toMicros, timeZone)}, ${timeZone}, by the ` +
        'time at which the service moved the money.',
      `As it was known at ${localTime(knownMicros, timeZone)}.` +
        (isOver ? '' : ' The month is not over.'),
    ],
    currencies: statement.currencies.map((one) => ({
      currency: one.currency,
      tables: [totalsTable(one), accountsTable(one), daysTable(one)],
    })),
    tables: [
      openTable(statement),
      oldestTable(statement),
      findingsTable(statement),
      acceptedTable(statement),
      coverageTable(statement),
    ],
  };
}

function totalsTable(one: CurrencyStatement): TextTable {
  const money = (minor: bigint) => formatMoney(minor, one.currency);
  return {
    title: 'Totals',
    columns: [text('What'), number('Count'), number('Amount')],
    rows: [
      ...MEASURE_NAMES.map((name) => {
        const { count, amountMinor } = one.measures[name];
        return [measureMeaning(name), String(count), money(amountMinor)];
      }),
      ['Net: captured, less voided, refunded and lost', '', money(one.netMinor)],
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

function oldestTable({ open, period }: Statement): TextTable {
  return {
    title: 'The oldest of these',
    columns: [text('What'), text('Id'), number('Amount'), number('Days')],
    rows: open.flatMap(({ item, currency, oldest }) =>
      oldest.map(({ id, amountMinor, sinceMicros }) => [
        openItemMeaning(item),
        id,
        formatMoney(amountMinor, currency),
        ageAt(period.toMicros, sinceMicros),
      ]),
    ),
    empty: 'Nothing was under way.',
  };
}

function findingsTable({ findings, uncertain, period }: Statement): TextTable {
  return {
    title: `Findings open at the end of the month: ${findings.count}. Uncertain now: ${uncertain}`,
    columns: [number('Finding'), text('Class'), text('Subject'), number('Days')],
    rows: findings.oldest.map(({ id, class: name, subject, openedMicros }) => [
      String(id),
      name,
      subject,
      ageAt(period.toMicros, openedMicros),
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

function ageAt(endMicros: number, sinceMicros: number): string {
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

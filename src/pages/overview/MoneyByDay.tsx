/** Captured, refunded, disputed and paid out: today, and by day. */
import { formatMoney, sumExactly } from '../../contract/money.ts';
import type { DatedTotals } from '../../ledger/read/store/dayTotals.ts';
import { groupBy } from '../../platform/collections.ts';
import { DAY_MS } from '../../platform/time.ts';
import { BarChart } from '../components/BarChart.tsx';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Money } from '../components/values.tsx';

type Total = 'capturedMinor' | 'refundedMinor' | 'disputedMinor' | 'paidOutMinor';

const TOTALS: readonly {
  readonly total: Total;
  readonly name: string;
  readonly tone: 'in' | 'out' | 'left';
}[] = [
  { total: 'capturedMinor', name: 'Captured', tone: 'in' },
  { total: 'refundedMinor', name: 'Refunded', tone: 'out' },
  { total: 'disputedMinor', name: 'Disputed', tone: 'out' },
  { total: 'paidOutMinor', name: 'Paid out', tone: 'left' },
];

/** Currencies with charts; the others fold. */
const SHOWN_CURRENCIES = 3;

export function MoneyByDay({
  totals,
  todayMs,
  days,
}: {
  readonly totals: readonly DatedTotals[];
  readonly todayMs: number;
  readonly days: number;
}) {
  const names = lastDays(todayMs, days);
  const currencies = [...groupBy(totals, ({ currency }) => currency)]
    .map(([currency, rows]) => ({ currency, days: namedDays(currency, rows, names) }))
    .toSorted((a, b) => captures(b.days) - captures(a.days));
  const others = currencies.slice(SHOWN_CURRENCIES);
  return (
    <Section title="Money">
      {currencies.length === 0 ? (
        <p class="empty">{`No money was recorded in the last ${days} days.`}</p>
      ) : (
        <>
          <p>Today and the days of the charts are those (UTC) on which the ledger recorded it.</p>
          {currencies.slice(0, SHOWN_CURRENCIES).map((one) => (
            <Currency key={one.currency} {...one} />
          ))}
        </>
      )}
      {others.length === 0 ? null : (
        <details>
          <summary>{`Other currencies (${others.length})`}</summary>
          {others.map((one) => (
            <Currency key={one.currency} {...one} />
          ))}
        </details>
      )}
    </Section>
  );
}

interface CurrencyDays {
  readonly currency: string;
  /** Oldest first; a day without money is all zeros. */
  readonly days: readonly DatedTotals[];
}

/** How often money moved, to show the currencies that matter first: amounts of two do not compare. */
const captures = (days: readonly DatedTotals[]): number =>
  days.filter(({ capturedMinor, paidOutMinor }) => capturedMinor > 0n || paidOutMinor > 0n).length;

function Currency({ currency, days }: CurrencyDays) {
  const today = days.at(-1);
  return (
    <>
      <div class="figures">
        {TOTALS.map(({ total, name, tone }) => (
          <div key={total} class="figure">
            <h3>{`${name} today`}</h3>
            <p class="amount">
              <Money amountMinor={today?.[total] ?? 0n} currency={currency} />
            </p>
            <BarChart
              label={`${name} by day in ${currency}; the table below has the amounts`}
              tone={tone}
              bars={days.map((row) => ({
                name: row.day,
                // Its height is drawn; the text has the exact amount.
                value: Number(row[total]),
                text: formatMoney(row[total], currency),
              }))}
            />
            <p class="cause">
              {`${days.length} days: `}
              <Money amountMinor={sumExactly(days.map((row) => row[total]))} currency={currency} />
            </p>
          </div>
        ))}
      </div>
      <details>
        <summary>{`${currency} by day`}</summary>
        <DataTable
          caption={`${currency} by the day (UTC) on which the ledger recorded it, newest first`}
          columns={columnsOf(currency)}
          rows={days.toReversed()}
          keyOf={({ day }) => day}
          empty=""
        />
      </details>
    </>
  );
}

function columnsOf(currency: string): readonly Column<DatedTotals>[] {
  return [
    { title: 'Day', cell: ({ day }) => <span class="day">{day}</span> },
    ...TOTALS.map(({ total, name }) => ({
      title: name,
      isNumber: true,
      cell: (row: DatedTotals) => <Money amountMinor={row[total]} currency={currency} />,
    })),
  ];
}

function namedDays(
  currency: string,
  rows: readonly DatedTotals[],
  names: readonly string[],
): readonly DatedTotals[] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const nothing = {
    currency,
    capturedMinor: 0n,
    refundedMinor: 0n,
    disputedMinor: 0n,
    paidOutMinor: 0n,
  };
  return names.map((day) => byDay.get(day) ?? { ...nothing, day });
}

/** The days in UTC up to today, oldest first. */
function lastDays(todayMs: number, days: number): readonly string[] {
  return Array.from({ length: days }, (_, place) =>
    new Date(todayMs - (days - 1 - place) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** The statement of a month as CSV: what a spreadsheet adds up. */
import { expect, test } from 'vitest';
import { MEASURE_NAMES, type Statement } from '../../../src/ledger/domain/statement.ts';
import { statementCsv } from '../../../src/representation/statement.ts';

test('every amount is a number, also a negative one', () => {
  const none = Object.fromEntries(
    MEASURE_NAMES.map((name) => [name, { count: 0, amountMinor: 0n }]),
  ) as Statement['currencies'][number]['measures'];
  const csv = statementCsv({
    period: { month: '2026-10', timeZone: 'UTC', fromMicros: 0, toMicros: 1 },
    knownMicros: 1,
    booking: { kind: 'effective', timeZone: undefined },
    chainHead: undefined,
    currencies: [
      {
        currency: 'EUR',
        measures: none,
        netMinor: -6540n,
        days: [],
        late: { count: 0, amountMinor: 0n },
        accounts: [
          {
            account: 'order.due',
            openingMinor: 0n,
            debitedMinor: 0n,
            creditedMinor: 6540n,
            closingMinor: -6540n,
          },
        ],
        clearing: {
          openingMinor: 0n,
          movements: [{ group: 'fees', count: 1, amountMinor: -5n }],
          closingMinor: -5n,
        },
      },
    ],
    unmatched: { outcome: 'not_read', reason: 'not_imported' },
    open: [],
    findings: { count: 0, oldest: [] },
    accepted: [],
    uncertain: 0,
    coverage: [],
  });
  expect(csv).toContain('\n2026-10,UTC,EUR,closing,,order.due,,,,-65.40\n');
  expect(csv).toContain('\n2026-10,UTC,EUR,total,,net,,,,-65.40\n');
  expect(csv).toContain('\n2026-10,UTC,EUR,clearing,,fees,1,,,-0.05\n');
  const [, ...rows] = csv.trimEnd().split('\n');
  const amounts = rows.flatMap((row) => row.split(',').slice(7)).filter((cell) => cell !== '');
  expect(amounts.filter((cell) => Number.isNaN(Number(cell)))).toEqual([]);
});

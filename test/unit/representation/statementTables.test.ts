/** The statement of a month as tables: ages, and why something is not listed. */
import { expect, test } from 'vitest';
import type { Statement } from '../../../src/ledger/domain/statement.ts';
import { statementText } from '../../../src/representation/statementTables.ts';

const micros = (time: string) => Date.parse(time) * 1000;

const statement = (knownAt: string): Statement => ({
  period: {
    month: '2026-11',
    timeZone: 'UTC',
    fromMicros: micros('2026-11-01T00:00Z'),
    toMicros: micros('2026-12-01T00:00Z'),
  },
  knownMicros: micros(knownAt),
  booking: { kind: 'effective', timeZone: undefined },
  chainHead: undefined,
  currencies: [],
  unmatched: { outcome: 'not_read', reason: 'not_imported' },
  open: [
    {
      item: 'dispute',
      currency: 'EUR',
      count: 1,
      amountMinor: 5400n,
      oldest: [{ id: 'dp_1', amountMinor: 5400n, sinceMicros: micros('2026-11-24T12:00Z') }],
    },
  ],
  findings: { count: 0, oldest: [] },
  accepted: [],
  uncertain: 0,
  coverage: [],
});

test.each([
  ['2026-11-24T13:00Z', '0'],
  ['2026-11-26T13:00Z', '2'],
  ['2026-12-20T00:00Z', '6'],
])('what is open is as old as at the end of the month, or now before it: %s', (knownAt, days) => {
  const table = statementText(statement(knownAt)).tables.find(
    ({ title }) => title === 'The oldest of these',
  );
  expect(table?.rows.map((row) => row.at(-1))).toEqual([days]);
});

test.each([
  [
    'UTC',
    '2026-11-01 00:00 UTC to 2026-12-01 00:00 UTC, by the time',
    'known at 2026-12-20 00:00 UTC.',
  ],
  [
    'Asia/Tokyo',
    '2026-11-01 09:00 to 2026-12-01 09:00, Asia/Tokyo, by the time',
    'known at 2026-12-20 09:00, Asia/Tokyo.',
  ],
])('the zone of the times is named: %s', (timeZone, span, known) => {
  const { period, ...rest } = statement('2026-12-20T00:00Z');
  const facts = statementText({ ...rest, period: { ...period, timeZone } }).facts.join('\n');
  expect(facts).toContain(span);
  expect(facts).toContain(known);
});

test('the reason why nothing is listed as unmatched is in one table', () => {
  const tables = statementText(statement('2026-11-24T13:00Z')).clearing;
  expect(tables.map(({ rows, empty }) => [rows.length, empty])).toEqual([
    [0, expect.stringContaining('tallyhook settle import')],
  ]);
});

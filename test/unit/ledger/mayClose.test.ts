/** When a month may be closed; what closings contain is in test/ledger/closings.test.ts. */
import { expect, test } from 'vitest';
import { mayClose } from '../../../src/ledger/domain/closings.ts';

// October in Berlin ends an hour before that of UTC.
const TO_MICROS = Date.UTC(2026, 9, 31, 23) * 1000;
const OCTOBER = {
  ...{ month: '2026-10', timeZone: 'Europe/Berlin' },
  ...{ fromMicros: Date.UTC(2026, 8, 30, 22) * 1000, toMicros: TO_MICROS },
};

test.each([
  ['a microsecond before its end', -1, 'refused'],
  ['at its end', 0, 'ok'],
])('a month may be closed once it is over in its time zone: %s', (_, offset, outcome) => {
  const may = mayClose(OCTOBER, { inForce: [], nowMicros: TO_MICROS + offset });
  expect(may.outcome).toBe(outcome);
});
